#include "state.hpp"

#include <algorithm>

namespace planlog {

AtomTable::AtomTable(const Task& task) {
    const auto objects = static_cast<uint32_t>(task.objects.size());
    for (const Predicate& predicate : task.domain->predicates)
        relations_.emplace_back(static_cast<uint32_t>(predicate.parameters.size()), objects);
    ids_.resize(relations_.size());
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

std::vector<AtomId> initial_state(const Task& task, AtomTable& atoms) {
    std::vector<AtomId> state;
    for (size_t i = 0; i < task.initial.size(); ++i) {
        const PredicateId predicate = task.initial.predicates[i];
        if (task.domain->predicates[index(predicate)].fluent)
            state.push_back(atoms.intern(predicate, task.initial.row(i)));
    }
    std::sort(state.begin(), state.end());
    return state;
}

}  // namespace planlog
