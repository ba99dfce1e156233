// Search for cheaper plans around a policy.
#include "bindings/network.hpp"
#include "search/action_elimination.hpp"
#include "search/best_first_search.hpp"
#include "search/parallel_search.hpp"

namespace planlog {
namespace {

using Steps = std::vector<std::pair<uint32_t, std::vector<uint32_t>>>;

std::vector<GroundAction> as_plan(const Task& task, const Steps& steps) {
    std::vector<GroundAction> actions;
    for (const auto& [action, arguments] : steps)
        actions.push_back(checked_action(task, action, arguments));
    return actions;
}

// Throws TimeoutError after this time.
std::optional<std::pair<std::vector<uint32_t>, Cost>> eliminate_from(
    SharedTask& task, IdArray state, const Steps& plan, std::optional<double> seconds) {
    const auto atoms = checked_atoms(task, state);
    const auto actions = as_plan(task.task, plan);
    Guarded work;
    work.watch.set_deadline(seconds);
    const auto eliminated = work.guarded([&] {
        ActionElimination elimination(task.task, task.atoms, atoms);
        return elimination.eliminate(actions);
    });
    if (!eliminated) return std::nullopt;
    return std::pair(eliminated->steps, eliminated->cost);
}

class SharedSearch : public Guarded {
  public:
    // Starts from a plan that leads from the state to a goal. Throws TimeoutError after this time.
    SharedSearch(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                 std::shared_ptr<SharedNetwork> network, IdArray state, const Steps& plan,
                 uint64_t seed, size_t threads, bool eliminate, std::optional<double> seconds)
        : task_(std::move(task)), program_(std::move(program)), network_(std::move(network)) {
        check_same_domain(*task_, *program_);
        if (network_) network_->check_scores(*program_);
        if (threads == 0) throw nb::value_error("the search needs at least one thread");
        const auto atoms = checked_atoms(*task_, state);
        const auto actions = as_plan(task_->task, plan);
        watch.set_deadline(seconds);
        guarded([&] {
            search_.emplace(task_->task, task_->atoms, program_->frozen(),
                            network_ ? &network_->network : nullptr, seed, threads, eliminate);
            search_->start(atoms, actions, [this] { return poll(); });
        });
        watch.set_deadline(std::nullopt);
    }

    bool improve(uint64_t expansions, std::optional<double> seconds) {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        const auto is_time_left = [&] {
            return !seconds ||
                   std::chrono::duration<double>(Clock::now() - start).count() < *seconds;
        };
        return interruptible(
            [&] { return search_->improve(expansions, [&] { return poll() && is_time_left(); }); });
    }
    PlanLocalSearch::ActionCosts action_costs(size_t step) {
        check_step(step, 1);
        return interruptible(
            [&] { return search_->action_costs(step, [this] { return poll(); }); });
    }
    std::vector<GroundAction> plan() { return best().plan(); }
    Numbers state(size_t step) {
        check_step(step, 0);
        return as_array(guarded([&] { return search_->best().state(step); }));
    }
    Cost cost() { return best().cost(); }
    uint64_t expansions() {
        check_available();
        return search_->expansions();
    }

  private:
    PlanLocalSearch& best() {
        check_available();
        return search_->best();
    }
    bool poll() {
        watch();
        return true;
    }
    void check_step(size_t step, size_t after) {
        const size_t length = best().plan().size();
        if (step > length || length - step < after) throw nb::index_error("no such step");
    }
    // An interrupt leaves the search with the best plan so far, and it can continue.
    template <class Function>
    std::invoke_result_t<Function> interruptible(Function function) {
        std::exception_ptr interrupt;
        auto result = guarded([&]() -> decltype(function()) {
            try {
                return function();
            } catch (const nb::python_error&) {
                interrupt = std::current_exception();
                return {};
            }
        });
        if (interrupt) std::rethrow_exception(interrupt);
        return result;
    }

    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    std::optional<ParallelSearch> search_;
};

// A best-first search that Python advances step by step.
class SharedBestFirstSearch : public Guarded {
  public:
    // `levels` are those of the program's rules; `dead` is a relation without arguments.
    SharedBestFirstSearch(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                          std::shared_ptr<SharedNetwork> network, IdArray state,
                          std::vector<uint32_t> levels, std::optional<uint32_t> dead, size_t limit,
                          const Steps& path, bool has_rules)
        : task_(std::move(task)), program_(std::move(program)), network_(std::move(network)) {
        check_same_domain(*task_, *program_);
        if (network_) network_->check_scores(*program_);
        BestFirstSearch::Options options{
            std::move(levels), {}, limit, network_ ? &network_->network : nullptr, has_rules};
        const Program& program_of = program_->frozen();
        options.dead = checked_flag(program_of, dead);
        const auto atoms = checked_atoms(*task_, state);
        const auto actions = as_plan(task_->task, path);
        guarded([&] {
            search_.emplace(task_->task, task_->atoms, program_of, atoms, std::move(options));
            search_->add_path(actions);
        });
    }

    BestFirstSearch::Outcome advance(size_t count) {
        return guarded([&] { return search_->advance(count); });
    }
    const BestFirstSearch& usable() const {
        check_available();
        return *search_;
    }
    std::vector<GroundAction> plan() const {
        if (!usable().is_solved()) throw nb::value_error("there is no plan");
        return usable().plan();
    }

  private:
    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    std::optional<BestFirstSearch> search_;
};

}  // namespace

void bind_searches(nb::module_& m) {
    nb::enum_<BestFirstSearch::Outcome>(m, "SearchOutcome")
        .value("RUNNING", BestFirstSearch::Outcome::Running)
        .value("SOLVED", BestFirstSearch::Outcome::Solved)
        .value("EXHAUSTED", BestFirstSearch::Outcome::Exhausted)
        .value("FULL", BestFirstSearch::Outcome::Full);
    nb::class_<SharedBestFirstSearch>(m, "BestFirstSearch")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, IdArray, std::vector<uint32_t>,
                      std::optional<uint32_t>, size_t, Steps, bool>(),
             "task"_a, "program"_a, "network"_a.none(), "state"_a, "levels"_a, "dead"_a.none(),
             "limit"_a, "path"_a, "has_rules"_a)
        .def("advance", &SharedBestFirstSearch::advance, "count"_a)
        .def("plan", &SharedBestFirstSearch::plan)
        .def_prop_ro("states", [](const SharedBestFirstSearch& s) { return s.usable().states(); })
        .def_prop_ro("expanded",
                     [](const SharedBestFirstSearch& s) { return s.usable().expanded(); })
        .def_prop_ro("dead", [](const SharedBestFirstSearch& s) { return s.usable().dead(); })
        .def_prop_ro("state_size",
                     [](const SharedBestFirstSearch& s) { return s.usable().state_size(); })
        .def_prop_ro("memory", [](const SharedBestFirstSearch& s) { return s.usable().memory(); });
    m.def("eliminate_actions", eliminate_from, "task"_a, "state"_a, "plan"_a,
          "seconds"_a.none() = nb::none());
    nb::class_<SharedSearch>(m, "ParallelSearch")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>, IdArray, Steps, uint64_t, size_t, bool,
                      std::optional<double>>(),
             "task"_a, "program"_a, "network"_a.none(), "state"_a, "plan"_a, "seed"_a, "threads"_a,
             "eliminate"_a, "seconds"_a.none() = nb::none())
        .def("improve", &SharedSearch::improve, "expansions"_a, "seconds"_a.none())
        .def("action_costs", &SharedSearch::action_costs, "step"_a)
        .def("plan", &SharedSearch::plan)
        .def("state", &SharedSearch::state, "step"_a)
        .def_prop_ro("cost", &SharedSearch::cost)
        .def_prop_ro("expansions", &SharedSearch::expansions);
}

}  // namespace planlog
