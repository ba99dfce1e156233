#include "team.hpp"

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
constexpr uint64_t shortest_per_step = 20, shortest = 2000;
constexpr uint64_t longest_per_step = 320, longest = 40'000;

template <class Member>
std::future<void> start_thread(const std::function<void(Member&)>& work, Member& member) {
    try {
        return std::async(std::launch::async, [&] { work(member); });
    } catch (const std::system_error&) {  // what it lacks is room for the thread's stack
        throw std::bad_alloc();
    }
}

}  // namespace

Team::Team(const Task& task, AtomTable& atoms, const Program& program, const Network* network,
           const Program* rules, uint64_t seed, size_t size) {
    for (size_t i = 0; i < size; ++i, seed += 0x9e3779b97f4a7c15ULL) {
        Member& member = members_.emplace_back();
        if (rules) member.emplace_back(task, atoms, *rules, nullptr, seed).watch(stop_);
        member.emplace_back(task, atoms, program, network, seed).watch(stop_);
    }
}

void Team::run(const std::function<void(Member&)>& work, const Poll& poll) {
    stop_ = false;
    std::vector<std::future<void>> running;  // its end waits for all threads, whatever happens
    try {
        for (Member& member : members_) running.push_back(start_thread(work, member));
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

void Team::start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
                 const Poll& poll) {
    round_ = 0;
    run(
        [&](Member& member) {
            for (Improver& improver : member) improver.start(state, plan);
        },
        poll);
}

bool Team::improve(uint64_t expansions, const Poll& poll) {
    const double cost = best().cost();
    bool is_better = false;
    while (!is_better && cost > 0 && this->expansions() < expansions && poll()) {
        const std::vector<GroundAction> plan = best().plan();
        round_ = std::clamp(round_, std::max(shortest, shortest_per_step * plan.size()),
                            std::max(longest, longest_per_step * plan.size()));
        // The last round is shorter, so that the number of expansions is kept to.
        const uint64_t shares = members_.size() * members_.front().size();
        const uint64_t left = expansions - this->expansions();
        const uint64_t share = std::min(round_, left / shares + (left % shares > 0));
        run([&](Member& member) { work(member, plan, cost, share); }, poll);
        is_better = best().cost() < cost;
        round_ = is_better ? round_ / 2 : round_ * 2;
    }
    return is_better;
}

// One round of a member, which knows a plan.
void Team::work(Member& member, std::vector<GroundAction> plan, double cost, uint64_t share) {
    const Improver& first = member.front();
    // What a learned policy does by itself is worth its time, before all else.
    if (member.back().is_new() && member.back().improve()) {
        plan = member.back().plan();
        cost = member.back().cost();
    }
    for (Improver& improver : member) {
        if (improver.cost() > cost) improver.adopt(plan);
        const uint64_t end = improver.expansions() + share;
        const auto may_work = [&] { return &improver == &first || improver.work() < first.work(); };
        while (improver.expansions() < end && may_work() && !stop_) improver.improve();
        if (improver.cost() < cost) {
            plan = improver.plan();
            cost = improver.cost();
        }
    }
}

const Improver& Team::best() const {
    const Improver* best = nullptr;
    for (const Member& member : members_)
        for (const Improver& improver : member)
            if (!best || improver.cost() < best->cost()) best = &improver;
    return *best;
}

uint64_t Team::expansions() const {
    uint64_t sum = 0;
    for (const Member& member : members_)
        for (const Improver& improver : member) sum += improver.expansions();
    return sum;
}

}  // namespace planlog
