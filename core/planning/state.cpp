#include "planning/state.hpp"

#include <pthread.h>

#include <algorithm>
#include <set>

namespace planlog {

namespace {

// After a fork the child has one thread. A lock that another thread held would never be released
// there, and the data it guards could be inconsistent. So fork acquires the locks of all tables
// first, and both processes release them.
struct ForkGuard {
    std::mutex mutex;
    std::set<std::mutex*> locks;

    static ForkGuard& instance() {
        static ForkGuard* guard = [] {
            pthread_atfork(&lock_all, &unlock_all, &unlock_all);
            return new ForkGuard;  // never deleted: tables may outlive static objects
        }();
        return *guard;
    }
    static void lock_all() {
        instance().mutex.lock();
        for (std::mutex* lock : instance().locks) lock->lock();
    }
    static void unlock_all() {
        for (std::mutex* lock : instance().locks) lock->unlock();
        instance().mutex.unlock();
    }
};

}  // namespace

AtomTable::AtomTable(const Task& task) {
    const auto objects = static_cast<uint32_t>(task.objects.size());
    for (const Predicate& predicate : task.domain->predicates)
        relations_.emplace_back(static_cast<uint32_t>(predicate.parameters.size()), objects);
    ids_.resize(relations_.size());
    ForkGuard& guard = ForkGuard::instance();
    const std::lock_guard locked(guard.mutex);
    guard.locks.insert(&mutex_);
}

AtomTable::~AtomTable() {
    ForkGuard& guard = ForkGuard::instance();
    const std::lock_guard locked(guard.mutex);
    guard.locks.erase(&mutex_);
}

AtomId AtomTable::intern(PredicateId predicate, const ObjectId* values) {
    auto& ids = ids_[index(predicate)];
    const Row row = relations_[index(predicate)].intern(values);
    if (row == ids.size()) {
        ids.push_back(static_cast<AtomId>(atoms_.size()));
        atoms_.push_back({predicate, row});
    }
    return ids[row];
}

std::vector<AtomId> AtomTable::sorted_by_arguments(std::span<const AtomId> atoms) {
    const auto locked = lock();
    std::vector<AtomId> sorted(atoms.begin(), atoms.end());
    std::ranges::sort(sorted, [&](AtomId a, AtomId b) {
        if (predicate(a) != predicate(b)) return predicate(a) < predicate(b);
        const ObjectId *first = values(a), *second = values(b);
        return std::lexicographical_compare(first, first + arity(a), second, second + arity(b));
    });
    return sorted;
}

std::vector<AtomId> initial_state(const Task& task, AtomTable& atoms) {
    std::vector<AtomId> state;
    for (size_t i = 0; i < task.initial.size(); ++i) {
        const PredicateId predicate = task.initial.symbols[i];
        if (task.domain->predicates[index(predicate)].fluent)
            state.push_back(atoms.intern(predicate, task.initial.row(i)));
    }
    std::sort(state.begin(), state.end());
    return state;
}

}  // namespace planlog
