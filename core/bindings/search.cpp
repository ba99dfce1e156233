// Search for cheaper plans around a policy.
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

std::optional<std::pair<std::vector<uint32_t>, double>> eliminate_from(SharedTask& task,
                                                                       IdArray state,
                                                                       const Steps& plan) {
    check_atoms(task, state);
    ActionElimination elimination(task.task, task.atoms, {state.data(), state.size()});
    const auto eliminated = elimination.eliminate(as_plan(task.task, plan));
    if (!eliminated) return std::nullopt;
    return std::pair(eliminated->steps, eliminated->cost);
}

class SharedSearch : public Guarded {
  public:
    SharedSearch(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                 std::shared_ptr<SharedNetwork> network, uint64_t seed, size_t threads,
                 bool eliminate)
        : task_(std::move(task)),
          program_(std::move(program)),
          network_(std::move(network)),
          seed_(seed),
          threads_(threads),
          eliminate_(eliminate) {
        check_same_domain(*task_, *program_);
        if (network_) network_->check_scores(*program_);
        if (threads == 0) throw nb::value_error("the search needs at least one thread");
    }

    void start(IdArray state, const Steps& plan) {
        check_atoms(*task_, state);
        const auto actions = as_plan(task_->task, plan);
        repair();
        guarded([&] {
            is_started_ = false;
            search_.emplace(task_->task, task_->atoms, program_->frozen(),
                            network_ ? &network_->network : nullptr, seed_, threads_, eliminate_);
            search_->start({state.data(), state.size()}, actions, [this] { return poll(); });
            is_started_ = true;
        });
    }
    bool improve(uint64_t expansions, std::optional<double> seconds) {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        const auto is_time_left = [&] {
            return !seconds ||
                   std::chrono::duration<double>(Clock::now() - start).count() < *seconds;
        };
        bool is_better = false;
        interruptible([&] {
            is_better = search_->improve(expansions, [&] { return poll() && is_time_left(); });
        });
        return is_better;
    }
    nb::list action_costs(size_t step) {
        check_step(step, 1);
        std::vector<PlanLocalSearch::ActionCost> costs;
        interruptible([&] { costs = search_->action_costs(step, [this] { return poll(); }); });
        nb::list result;
        for (const auto& [action, cost] : costs)
            result.append(nb::make_tuple(as_python(action), cost));
        return result;
    }
    nb::list plan() {
        nb::list result;
        for (const GroundAction& action : best().plan()) result.append(as_python(action));
        return result;
    }
    Numbers state(size_t step) {
        check_step(step, 0);
        std::vector<AtomId> atoms;
        guarded([&] { atoms = search_->best().state(step); });
        return as_array(std::move(atoms));
    }
    double cost() { return best().cost(); }
    uint64_t expansions() {
        best();
        return search_->expansions();
    }

  private:
    PlanLocalSearch& best() {
        check_available();
        if (!is_started_) throw nb::value_error("the search has no plan yet");
        return search_->best();
    }
    bool poll() {
        watch_();
        return true;
    }
    void check_step(size_t step, size_t after) {
        const size_t length = best().plan().size();
        if (step > length || length - step < after) throw nb::index_error("no such step");
    }
    // An interrupt leaves the search with the best plan so far, and it can continue.
    template <class Function>
    void interruptible(Function function) {
        best();
        std::exception_ptr interrupt;
        guarded([&] {
            try {
                function();
            } catch (const nb::python_error&) {
                interrupt = std::current_exception();
            }
        });
        if (interrupt) std::rethrow_exception(interrupt);
    }

    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    uint64_t seed_;
    size_t threads_;
    bool eliminate_;
    std::optional<ParallelSearch> search_;
    bool is_started_ = false;
};

}  // namespace

void bind_searches(nb::module_& m) {
    m.def("eliminate_actions", eliminate_from, "task"_a, "state"_a, "plan"_a);
    nb::class_<SharedSearch>(m, "ParallelSearch")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, uint64_t, size_t, bool>(),
             "task"_a, "program"_a, "network"_a.none(), "seed"_a, "threads"_a, "eliminate"_a)
        .def("start", &SharedSearch::start, "state"_a, "plan"_a)
        .def("improve", &SharedSearch::improve, "expansions"_a, "seconds"_a.none())
        .def("action_costs", &SharedSearch::action_costs, "step"_a)
        .def("plan", &SharedSearch::plan)
        .def("state", &SharedSearch::state, "step"_a)
        .def_prop_ro("cost", &SharedSearch::cost)
        .def_prop_ro("expansions", &SharedSearch::expansions);
}

}  // namespace planlog
