// Better plans around a policy.
#include "bindings/bindings.hpp"
#include "bindings/network.hpp"
#include "search/action_elimination.hpp"
#include "search/parallel_search.hpp"

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

std::optional<std::pair<std::vector<uint32_t>, double>> eliminate_from(SharedTask& task,
                                                                       IdArray state,
                                                                       const Steps& plan) {
    check_atoms(task, state);
    const auto eliminated = eliminate_actions(task.task, task.atoms, {state.data(), state.size()},
                                              as_plan(task.task, plan));
    if (!eliminated) return std::nullopt;
    return std::pair(eliminated->steps, eliminated->cost);
}

class SharedPlanLocalSearch : public Guarded {
  public:
    SharedPlanLocalSearch(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                          std::shared_ptr<SharedNetwork> network, uint64_t seed)
        : task_(std::move(task)),
          program_(std::move(program)),
          network_(std::move(network)),
          search_(task_->task, task_->atoms, program_->program,
                  network_ ? &network_->network : nullptr, seed) {
        search_.watch(stop_);
    }

    void start(IdArray state, const Steps& plan) {
        const auto actions = as_plan(task_->task, plan);
        guarded([&] { search_.start({state.data(), state.size()}, actions); });
    }
    bool improve(uint64_t expansions) {
        bool better = false;
        guarded([&] {
            while (!better && search_.expansions() < expansions) {
                better = search_.improve();
                watch_();
            }
        });
        return better;
    }
    nb::list action_costs(size_t step) {
        std::vector<PlanLocalSearch::ActionCost> costs;
        guarded([&] { costs = search_.action_costs(step); });
        nb::list result;
        for (const auto& [action, cost] : costs)
            result.append(nb::make_tuple(as_python(action), cost));
        return result;
    }
    size_t follow_policy(uint64_t key, size_t most) {
        size_t steps = 0;
        guarded([&] { steps = search_.follow_policy(key, most); });
        return steps;
    }
    nb::list plan() const { return as_python(search_.plan()); }
    Numbers state(size_t step) {
        std::vector<AtomId> atoms;
        guarded([&] { atoms = search_.state(step); });
        return as_array(std::move(atoms));
    }
    size_t length() const { return search_.length(); }
    double cost() const { return search_.cost(); }
    uint64_t expansions() const { return search_.expansions(); }

  private:
    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    PlanLocalSearch search_;
    std::atomic<bool> stop_ = false;
};

// An interrupt leaves it with the best plan so far, and it can go on.
class SharedParallelSearch : public Guarded {
  public:
    SharedParallelSearch(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                         std::shared_ptr<SharedNetwork> network, uint64_t seed, size_t size)
        : task_(std::move(task)), program_(std::move(program)), network_(std::move(network)) {
        check_same_domain(*task_, *program_);
        if (size == 0) throw nb::value_error("there must be one improver at least");
        nb::gil_scoped_release unlocked;
        search_.emplace(task_->task, task_->atoms, program_->program,
                        network_ ? &network_->network : nullptr, seed, size);
    }

    void start(IdArray state, const Steps& plan) {
        check_atoms(*task_, state);
        const auto actions = as_plan(task_->task, plan);
        started_ = false;
        guarded([&] {
            search_->start({state.data(), state.size()}, actions, [&] {
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
                better = search_->improve(expansions, [&] {
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
        return as_python(search_->best().plan());
    }
    double cost() const {
        check_started();
        return search_->best().cost();
    }
    uint64_t expansions() const {
        check_condition();
        return search_->expansions();
    }

  private:
    void check_started() const {
        check_condition();
        if (!started_) throw nb::value_error("there is no plan yet");
    }

    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    std::optional<ParallelSearch> search_;
    bool started_ = false;
};

}  // namespace

void bind_searches(nb::module_& m) {
    m.def("eliminate_actions", eliminate_from, "task"_a, "state"_a, "plan"_a);
    nb::class_<SharedPlanLocalSearch>(m, "PlanLocalSearch")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, uint64_t>(),
             "task"_a, "program"_a, "network"_a.none(), "seed"_a)
        .def("start", &SharedPlanLocalSearch::start, "state"_a, "plan"_a)
        .def("improve", &SharedPlanLocalSearch::improve, "expansions"_a)
        .def("action_costs", &SharedPlanLocalSearch::action_costs, "step"_a)
        .def("follow_policy", &SharedPlanLocalSearch::follow_policy, "key"_a, "most"_a)
        .def("plan", &SharedPlanLocalSearch::plan)
        .def("state", &SharedPlanLocalSearch::state, "step"_a)
        .def_prop_ro("length", &SharedPlanLocalSearch::length)
        .def_prop_ro("cost", &SharedPlanLocalSearch::cost)
        .def_prop_ro("expansions", &SharedPlanLocalSearch::expansions);
    nb::class_<SharedParallelSearch>(m, "ParallelSearch")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, uint64_t, size_t>(),
             "task"_a, "program"_a, "network"_a.none(), "seed"_a, "size"_a)
        .def("start", &SharedParallelSearch::start, "state"_a, "plan"_a)
        .def("improve", &SharedParallelSearch::improve, "expansions"_a, "seconds"_a.none())
        .def("plan", &SharedParallelSearch::plan)
        .def_prop_ro("cost", &SharedParallelSearch::cost)
        .def_prop_ro("expansions", &SharedParallelSearch::expansions);
}

}  // namespace planlog
