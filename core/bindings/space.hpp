// A state space that Python expands step by step. Its arrays can be read when it is finished.
#pragma once

#include "bindings/bindings.hpp"
#include "planning/statespace.hpp"

namespace planlog {

class SharedSpace : public Guarded {
  public:
    SharedSpace(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                IdArray start, size_t limit, bool through_goals, bool stop_at_goal)
        : task_(std::move(task)), program_(std::move(program)) {
        check_same_domain(*task_, *program_);
        space_.emplace(task_->task, task_->atoms, program_->program, checked_atoms(*task_, start),
                       StateSpace::Bounds{limit, through_goals, stop_at_goal});
    }

    bool advance(size_t count) {
        try {
            guarded([&] { is_done_ = !space_->advance(count); });
        } catch (const MissingValue&) {  // in the middle of the expansion of a state
            damage();
            throw;
        } catch (const CostOverflow&) {  // likewise
            damage();
            throw;
        }
        return !is_done_;
    }
    size_t size() const {
        check_available();
        return space_->states().size();
    }
    // The arrays of a growing space move in memory, so Python sees those of a finished one only.
    const StateSpace& finished() const {
        check_available();
        if (!is_done_) throw nb::value_error("the state space is not finished");
        return *space_;
    }
    const std::shared_ptr<SharedTask>& task() const { return task_; }

    auto bits() const {
        const StateSet& states = finished().states();
        return nb::ndarray<nb::numpy, const uint64_t>(states.bits().data(),
                                                      {states.size(), states.width()});
    }
    Numbers atoms() const {
        const AtomList& atoms = finished().states().atoms();
        std::vector<uint32_t> ids;
        const auto lock = task_->atoms.lock();
        for (size_t i = 0; i < atoms.size(); ++i)
            ids.push_back(task_->atoms.intern(atoms.symbols[i], atoms.row(i)));
        return as_array(std::move(ids));
    }
    GroundAction action(uint32_t number) const {
        const ActionList& actions = finished().ground_actions();
        if (number >= actions.size()) throw nb::index_error("no such action");
        const ObjectId* arguments = actions.row(number);
        return {actions.symbols[number], {arguments, arguments + actions.arity(number)}};
    }

  private:
    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::optional<StateSpace> space_;
    bool is_done_ = false;
};

}  // namespace planlog
