// Several improvers that work on one plan at the same time, each on a thread of its own.
//
// They work in rounds. In a round each of them makes so many expansions, without a look at the
// others; before the next one those whose plan costs more than the best take that one over. Those
// with another plan of the same cost keep it: other trials lie before them. So what is found
// depends on the seed, on how many there are and on the number of expansions, not on which thread
// is faster.
//
// The first member of a learned policy begins with what the policy does by itself, and the others
// with what it does if it is not quite sure.
//
// Rounds are short while they lead to better plans, which the others are to know of soon, and get
// longer while they do not.
#pragma once

#include <deque>
#include <functional>

#include "search/plan_local_search.hpp"

namespace planlog {

class ParallelSearch {
  public:
    // Called now and then by the thread that waits for the others: whether they are to go on. If
    // it throws, they end as well.
    using Poll = std::function<bool()>;

    ParallelSearch(const Task& task, AtomTable& atoms, const Program& program,
                   const Network* network, uint64_t seed, size_t size);

    // As PlanLocalSearch::start.
    void start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
               const Poll& poll);
    // Rounds until the plan costs less, there are so many expansions in all, or the work is ended
    // from outside; whether it costs less.
    bool improve(uint64_t expansions, const Poll& poll);

    // Of those with the cheapest plan the first.
    const PlanLocalSearch& best() const;
    uint64_t expansions() const;

  private:
    void run(const std::function<void(PlanLocalSearch&)>& work, const Poll& poll);

    std::atomic<bool> stop_ = false;
    std::deque<PlanLocalSearch> searches_;  // they do not move
    uint64_t round_ = 0;                    // expansions of the next one, for each member
};

}  // namespace planlog
