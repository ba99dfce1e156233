// Bindings of state spaces, and of the transitions that another policy derives in them.
#include "bindings/space.hpp"

namespace planlog {
namespace {

auto as_pair(const RuleCounts& counts) { return std::pair(counts.states, counts.derivations); }

// A getter of an array of a finished space.
template <class T>
auto view_of(std::vector<T> StateSpace::* array) {
    return [array](const SharedSpace& s) { return as_view(s.finished().*array); };
}

class SharedDerivation : public Guarded {
  public:
    SharedDerivation(std::shared_ptr<SharedSpace> space, std::shared_ptr<SharedProgram> program,
                     std::optional<uint32_t> dead)
        : space_(std::move(space)), program_(std::move(program)) {
        check_same_domain(*space_->task(), *program_);
        derivation_.emplace(space_->finished(), space_->task()->atoms, program_->program,
                            checked_flag(program_->program, dead));
    }
    bool advance(size_t count) {
        return guarded([&] { return derivation_->advance(count); });
    }
    const Derivation& usable() const {
        check_available();
        return *derivation_;
    }

  private:
    std::shared_ptr<SharedSpace> space_;
    std::shared_ptr<SharedProgram> program_;
    std::optional<Derivation> derivation_;
};

}  // namespace

void bind_spaces(nb::module_& m) {
    const auto within = nb::rv_policy::reference_internal;
    nb::class_<SharedSpace>(m, "StateSpace")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>, IdArray, size_t,
                      bool, bool>(),
             "task"_a, "program"_a, "start"_a, "limit"_a, "through_goals"_a, "stop_at_goal"_a)
        .def("advance", &SharedSpace::advance, "count"_a)
        .def("action", &SharedSpace::action, "number"_a)
        .def("__len__", &SharedSpace::size)
        .def_prop_ro("visited", [](const SharedSpace& s) { return s.finished().visited(); })
        .def_prop_ro("bits", &SharedSpace::bits, within)
        .def_prop_ro("atoms", &SharedSpace::atoms, nb::rv_policy::move)
        .def_prop_ro("depths", view_of(&StateSpace::depths), within)
        .def_prop_ro("goals", view_of(&StateSpace::goals), within)
        .def_prop_ro("offsets", view_of(&StateSpace::offsets), within)
        .def_prop_ro("successors", view_of(&StateSpace::successors), within)
        .def_prop_ro("actions", view_of(&StateSpace::actions), within)
        .def_prop_ro("costs", view_of(&StateSpace::costs), within)
        .def_prop_ro("rules", [](const SharedSpace& s) { return as_pair(s.finished().rules); });
    nb::class_<SharedDerivation>(m, "Derivation")
        .def(nb::init<std::shared_ptr<SharedSpace>, std::shared_ptr<SharedProgram>,
                      std::optional<uint32_t>>(),
             "space"_a, "program"_a, "dead"_a.none() = nb::none())
        .def("advance", &SharedDerivation::advance, "count"_a)
        .def_prop_ro(
            "derived", [](const SharedDerivation& d) { return as_view(d.usable().derived); },
            within)
        .def_prop_ro(
            "is_dead", [](const SharedDerivation& d) { return as_view(d.usable().is_dead); },
            within)
        .def_prop_ro("rules", [](const SharedDerivation& d) { return as_pair(d.usable().rules); });
}

}  // namespace planlog
