// Better plans around a policy.
#include "../search/improver.hpp"
#include "bindings.hpp"
#include "network.hpp"

namespace planlog {
namespace {

class SharedImprover : public Guarded {
  public:
    SharedImprover(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                   std::shared_ptr<SharedNetwork> network, uint64_t seed, double temperature)
        : task_(std::move(task)),
          program_(std::move(program)),
          network_(std::move(network)),
          improver_(task_->task, task_->atoms, program_->program,
                    network_ ? &network_->network : nullptr, {seed, temperature}) {
        improver_.watch(stop_);
    }

    void start(IdArray state, const std::vector<std::pair<uint32_t, std::vector<uint32_t>>>& plan) {
        std::vector<GroundAction> actions;
        for (const auto& [action, arguments] : plan) {
            check_action(task_->task, action, arguments);
            actions.push_back({ActionId(action), arguments});
        }
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
    nb::list plan() const {
        nb::list result;
        for (const GroundAction& action : improver_.plan()) result.append(as_python(action));
        return result;
    }
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

}  // namespace

void bind_searches(nb::module_& m) {
    nb::class_<SharedImprover>(m, "Improver")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, uint64_t, double>(),
             "task"_a, "program"_a, "network"_a.none(), "seed"_a, "temperature"_a)
        .def("start", &SharedImprover::start, "state"_a, "plan"_a)
        .def("improve", &SharedImprover::improve, "expansions"_a)
        .def("survey", &SharedImprover::survey, "step"_a)
        .def("follow_policy", &SharedImprover::follow_policy, "key"_a, "most"_a)
        .def("plan", &SharedImprover::plan)
        .def("state", &SharedImprover::state, "step"_a)
        .def_prop_ro("length", &SharedImprover::length)
        .def_prop_ro("cost", &SharedImprover::cost)
        .def_prop_ro("expansions", &SharedImprover::expansions);
}

}  // namespace planlog
