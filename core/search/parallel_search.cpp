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

// Expansions of a round: at least so many for each step of the plan, and so many in any case.
constexpr uint64_t shortest_per_step = 2, shortest = 200;
constexpr uint64_t longest_per_step = 320, longest = 40'000;

std::future<void> start_thread(const std::function<void(PlanLocalSearch&)>& work,
                               PlanLocalSearch& member) {
    try {
        return std::async(std::launch::async, [&] { work(member); });
    } catch (const std::system_error&) {  // what it lacks is room for the thread's stack
        throw std::bad_alloc();
    }
}

}  // namespace

ParallelSearch::ParallelSearch(const Task& task, AtomTable& atoms, const Program& program,
                               const Network* network, uint64_t seed, size_t size) {
    for (size_t i = 0; i < size; ++i, seed += 0x9e3779b97f4a7c15ULL)
        searches_.emplace_back(task, atoms, program, network, seed).watch(stop_);
}

void ParallelSearch::run(const std::function<void(PlanLocalSearch&)>& work, const Poll& poll) {
    stop_ = false;
    std::vector<std::future<void>> running;  // its end waits for all threads, whatever happens
    try {
        for (PlanLocalSearch& member : searches_) running.push_back(start_thread(work, member));
        for (auto& one : running) {
            while (one.wait_for(poll_interval) == std::future_status::timeout)
                if (!poll()) stop_ = true;
            one.get();
        }
    } catch (...) {
        stop_ = true;
        throw;
    }
}

void ParallelSearch::start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
                           const Poll& poll) {
    round_ = 0;
    run(
        [&](PlanLocalSearch& member) {
            member.start(state, plan, &member == &searches_.front() ? 0 : 1);
        },
        poll);
}

bool ParallelSearch::improve(uint64_t expansions, const Poll& poll) {
    const double cost = best().cost();
    bool is_better = false;
    while (!is_better && cost > 0 && this->expansions() < expansions && poll()) {
        const std::vector<GroundAction> plan = best().plan();
        round_ = std::clamp(round_, std::max(shortest, shortest_per_step * plan.size()),
                            std::max(longest, longest_per_step * plan.size()));
        // The last round is shorter, so that the number of expansions is kept to.
        const uint64_t left = expansions - this->expansions(), size = searches_.size();
        const uint64_t share = std::min(round_, left / size + (left % size > 0));
        run(
            [&](PlanLocalSearch& member) {
                if (member.cost() > cost) member.adopt(plan);
                const uint64_t end = member.expansions() + share;
                while (member.expansions() < end && !stop_) member.improve();
            },
            poll);
        is_better = best().cost() < cost;
        round_ = is_better ? round_ / 2 : round_ * 2;
    }
    return is_better;
}

const PlanLocalSearch& ParallelSearch::best() const {
    return *std::min_element(searches_.begin(), searches_.end(),
                             [](const PlanLocalSearch& one, const PlanLocalSearch& other) {
                                 return one.cost() < other.cost();
                             });
}

uint64_t ParallelSearch::expansions() const {
    uint64_t sum = 0;
    for (const PlanLocalSearch& member : searches_) sum += member.expansions();
    return sum;
}

}  // namespace planlog
