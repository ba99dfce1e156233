// Better plans around a policy.
#include "../pruning.hpp"
#include "../search/team.hpp"
#include "bindings.hpp"
#include "network.hpp"

namespace planlog {
namespace {

using Steps = std::vector<std::pair<uint32_t, std::vector<uint32_t>>>;

std::vector<GroundAction> as_plan(const Task& task, const Steps& steps) {
    std::vector<GroundAction> actions;
    for (const auto& [action, arguments] : steps) {
        check_action(task, action, arguments);
        actions.push_back({ActionId(action), arguments});
    }
    return actions;
}

nb::list as_python(const std::vector<GroundAction>& plan) {
    nb::list result;
    for (const GroundAction& action : plan) result.append(as_python(action));
    return result;
}

std::optional<std::pair<std::vector<uint32_t>, double>> prune_plan(SharedTask& task, IdArray state,
                                                                   const Steps& plan) {
    check_atoms(task, state);
    const auto pruned =
        prune(task.task, task.atoms, {state.data(), state.size()}, as_plan(task.task, plan));
    if (!pruned) return std::nullopt;
    return std::pair(pruned->steps, pruned->cost);
}

class SharedImprover : public Guarded {
  public:
    SharedImprover(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                   std::shared_ptr<SharedNetwork> network, uint64_t seed)
        : task_(std::move(task)),
          program_(std::move(program)),
          network_(std::move(network)),
          improver_(task_->task, task_->atoms, program_->program,
                    network_ ? &network_->network : nullptr, seed) {
        improver_.watch(stop_);
    }

    void start(IdArray state, const Steps& plan) {
        const auto actions = as_plan(task_->task, plan);
        guarded([&] { improver_.start({state.data(), state.size()}, actions); });
    }
    bool improve(uint64_t expansions) {
        bool better = false;
        guarded([&] {
            while (!better && improver_.expansions() < expansions) {
                better = improver_.improve();
                watch_();
            }
        });
        return better;
    }
    nb::list survey(size_t step) {
        std::vector<Improver::Option> options;
        guarded([&] { options = improver_.survey(step); });
        nb::list result;
        for (const auto& [action, cost] : options)
            result.append(nb::make_tuple(as_python(action), cost));
        return result;
    }
    size_t follow_policy(uint64_t key, size_t most) {
        size_t steps = 0;
        guarded([&] { steps = improver_.follow_policy(key, most); });
        return steps;
    }
    nb::list plan() const { return as_python(improver_.plan()); }
    Numbers state(size_t step) {
        std::vector<AtomId> atoms;
        guarded([&] { atoms = improver_.state(step); });
        return as_array(std::move(atoms));
    }
    size_t length() const { return improver_.length(); }
    double cost() const { return improver_.cost(); }
    uint64_t expansions() const { return improver_.expansions(); }

  private:
    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    Improver improver_;
    std::atomic<bool> stop_ = false;
};

// An interrupt leaves it with the best plan so far, and it can go on.
class SharedTeam : public Guarded {
  public:
    SharedTeam(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
               std::shared_ptr<SharedNetwork> network, uint64_t seed, size_t size)
        : task_(std::move(task)), program_(std::move(program)), network_(std::move(network)) {
        check_same_domain(*task_, *program_);
        if (size == 0) throw nb::value_error("there must be one improver at least");
        nb::gil_scoped_release unlocked;
        team_.emplace(task_->task, task_->atoms, program_->program,
                      network_ ? &network_->network : nullptr, seed, size);
    }

    void start(IdArray state, const Steps& plan) {
        check_atoms(*task_, state);
        const auto actions = as_plan(task_->task, plan);
        started_ = false;
        guarded([&] {
            team_->start({state.data(), state.size()}, actions, [&] {
                watch_();
                return true;
            });
        });
        started_ = true;
    }
    bool improve(uint64_t expansions, std::optional<double> seconds) {
        check_started();
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        bool better = false;
        std::exception_ptr interrupt;
        guarded([&] {
            try {
                better = team_->improve(expansions, [&] {
                    watch_();
                    return !seconds ||
                           std::chrono::duration<double>(Clock::now() - start).count() < *seconds;
                });
            } catch (const nb::python_error&) {
                interrupt = std::current_exception();
            }
        });
        if (interrupt) std::rethrow_exception(interrupt);
        return better;
    }
    nb::list plan() const {
        check_started();
        return as_python(team_->best().plan());
    }
    double cost() const {
        check_started();
        return team_->best().cost();
    }
    uint64_t expansions() const {
        check_condition();
        return team_->expansions();
    }

  private:
    void check_started() const {
        check_condition();
        if (!started_) throw nb::value_error("there is no plan yet");
    }

    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    std::optional<Team> team_;
    bool started_ = false;
};

}  // namespace

void bind_searches(nb::module_& m) {
    m.def("prune", prune_plan, "task"_a, "state"_a, "plan"_a);
    nb::class_<SharedImprover>(m, "Improver")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, uint64_t>(),
             "task"_a, "program"_a, "network"_a.none(), "seed"_a)
        .def("start", &SharedImprover::start, "state"_a, "plan"_a)
        .def("improve", &SharedImprover::improve, "expansions"_a)
        .def("survey", &SharedImprover::survey, "step"_a)
        .def("follow_policy", &SharedImprover::follow_policy, "key"_a, "most"_a)
        .def("plan", &SharedImprover::plan)
        .def("state", &SharedImprover::state, "step"_a)
        .def_prop_ro("length", &SharedImprover::length)
        .def_prop_ro("cost", &SharedImprover::cost)
        .def_prop_ro("expansions", &SharedImprover::expansions);
    nb::class_<SharedTeam>(m, "Team")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, uint64_t, size_t>(),
             "task"_a, "program"_a, "network"_a.none(), "seed"_a, "size"_a)
        .def("start", &SharedTeam::start, "state"_a, "plan"_a)
        .def("improve", &SharedTeam::improve, "expansions"_a, "seconds"_a.none())
        .def("plan", &SharedTeam::plan)
        .def_prop_ro("cost", &SharedTeam::cost)
        .def_prop_ro("expansions", &SharedTeam::expansions);
}

}  // namespace planlog
