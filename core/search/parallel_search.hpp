// Parallel local search over plans: several local searches, each on its own thread, that share the
// best plan from time to time.
//
// They work in rounds. In a round, each search makes the same number of expansions on its own.
// Before the next round, searches whose plan is more expensive than the best one adopt it; those
// with another plan of the same cost keep theirs, for diversity. So the result depends on the seed,
// the number of searches and the number of expansions, not on the speed of the threads.
//
// Rounds are short while they improve the plan, so that the others get it soon, and grow longer
// while they do not. With a network, the first search begins with the policy's own plan, the others
// with plans that are sampled by the scores.
#pragma once

#include <deque>
#include <functional>

#include "search/plan_local_search.hpp"

namespace planlog {

class ParallelSearch {
  public:
    // Called by the waiting thread every few milliseconds. The searches stop when it returns false
    // or throws.
    using Poll = std::function<bool()>;

    ParallelSearch(const Task& task, AtomTable& atoms, const Program& program,
                   const Network* network, uint64_t seed, size_t size, bool eliminate);

    // As those of PlanLocalSearch. `action_costs` is that of the best search.
    void start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
               const Poll& poll);
    PlanLocalSearch::ActionCosts action_costs(size_t step, const Poll& poll);
    // Searches until the plan is cheaper, the searches have made this number of expansions since
    // the start, or `poll` stops them. Returns whether the plan is cheaper.
    bool improve(uint64_t expansions, const Poll& poll);

    // The first search with the cheapest plan.
    PlanLocalSearch& best();
    uint64_t expansions() const;

  private:
    void run(const std::function<void(PlanLocalSearch&)>& work, const Poll& poll);

    std::atomic<bool> stop_ = false;
    std::deque<PlanLocalSearch> searches_;  // which cannot be moved
    uint64_t round_ = 0;                    // expansions of each search in the next round
};

}  // namespace planlog
