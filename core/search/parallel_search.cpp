#include "search/parallel_search.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <new>
#include <system_error>

namespace planlog {

namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 10ms;

// Expansions of a round, at least and at most: for each step of the plan, but no fewer than ...
constexpr uint64_t min_per_step = 2, min_round = 200;
constexpr uint64_t max_per_step = 320, max_round = 40'000;

}  // namespace

ParallelSearch::ParallelSearch(const Task& task, AtomTable& atoms, const Program& program,
                               const Network* network, uint64_t seed, size_t size, bool eliminate) {
    for (size_t i = 0; i < size; ++i, seed += 0x9e3779b97f4a7c15ULL)
        searches_.emplace_back(task, atoms, program, network, seed, eliminate, stop_);
}

// Runs the work of each search on a thread of its own.
void ParallelSearch::run(const std::function<void(PlanLocalSearch&)>& work, const Poll& poll) {
    stop_ = false;
    std::vector<std::future<void>> running;  // its destructor waits for all threads
    try {
        for (PlanLocalSearch& search : searches_)
            running.push_back(std::async(std::launch::async, [&] {
                const Interruptible stoppable([&] {
                    if (stop_) throw Stopped();
                });
                try {
                    work(search);
                } catch (...) {
                    search.after_exception();
                    throw;
                }
            }));
        for (auto& one : running) {
            while (one.wait_for(poll_interval) == std::future_status::timeout)
                if (!poll()) stop_ = true;
            try {
                one.get();
            } catch (const Stopped&) {  // as `poll` wanted
            }
        }
    } catch (const std::system_error&) {  // no memory for the stack of a thread
        stop_ = true;
        throw std::bad_alloc();
    } catch (...) {
        stop_ = true;
        throw;
    }
}

void ParallelSearch::start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
                           const Poll& poll) {
    run(
        [&](PlanLocalSearch& search) {
            search.start(state, plan, &search == &searches_.front() ? 0 : 1);
        },
        poll);
    if (stop_) throw Stopped();
}

PlanLocalSearch::ActionCosts ParallelSearch::action_costs(size_t step, const Poll& poll) {
    PlanLocalSearch::ActionCosts costs;
    run(
        [&, chosen = &best()](PlanLocalSearch& search) {
            if (&search == chosen) costs = search.action_costs(step);
        },
        poll);
    return costs;
}

bool ParallelSearch::improve(uint64_t expansions, const Poll& poll) {
    const Cost cost = best().cost();
    bool is_better = false;
    while (!is_better && cost > Cost() && this->expansions() < expansions && poll()) {
        const std::vector<GroundAction> plan = best().plan();
        round_ = std::clamp(round_, std::max(min_round, min_per_step * plan.size()),
                            std::max(max_round, max_per_step * plan.size()));
        // The last round is shorter, to keep to the number of expansions.
        const uint64_t left = expansions - this->expansions(), size = searches_.size();
        const uint64_t share = std::min(round_, left / size + (left % size > 0));
        const auto work = [&](PlanLocalSearch& search) {
            if (search.cost() > cost) search.adopt(plan);
            const uint64_t end = search.expansions() + share;
            while (search.expansions() < end && !stop_) search.improve();
        };
        run(work, poll);
        is_better = best().cost() < cost;
        round_ = is_better ? round_ / 2 : round_ * 2;
    }
    return is_better;
}

PlanLocalSearch& ParallelSearch::best() {
    return *std::ranges::min_element(searches_, {}, &PlanLocalSearch::cost);
}

uint64_t ParallelSearch::expansions() const {
    uint64_t sum = 0;
    for (const PlanLocalSearch& search : searches_) sum += search.expansions();
    return sum;
}

}  // namespace planlog
