// States as sorted lists of atom ids, and the table that gives atoms their ids.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "datalog/relation.hpp"
#include "pddl/domain.hpp"

namespace planlog {

using AtomId = uint32_t;

// The ids of a task's ground atoms, given in the order in which atoms are first met. All walks of a
// task share the table, so its users must hold the lock meanwhile.
class AtomTable {
  public:
    explicit AtomTable(const Task& task);
    ~AtomTable();
    AtomTable(const AtomTable&) = delete;
    AtomTable& operator=(const AtomTable&) = delete;

    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    AtomId intern(PredicateId predicate, const ObjectId* values);
    PredicateId predicate(AtomId atom) const { return atoms_[atom].predicate; }
    const ObjectId* values(AtomId atom) const {
        return relations_[index(atoms_[atom].predicate)].values(atoms_[atom].row);
    }
    uint32_t arity(AtomId atom) const { return relations_[index(predicate(atom))].arity(); }
    // The atoms sorted by predicate and arguments, independently of their ids. Takes the lock.
    std::vector<AtomId> sorted_by_arguments(std::span<const AtomId> atoms);
    size_t size() const { return atoms_.size(); }

  private:
    struct Entry {
        PredicateId predicate;
        Row row;
    };
    std::mutex mutex_;
    std::vector<Relation> relations_;       // per predicate
    std::vector<std::vector<AtomId>> ids_;  // per predicate and row
    std::vector<Entry> atoms_;
};

// The atoms of the initial state that actions can change, sorted.
std::vector<AtomId> initial_state(const Task& task, AtomTable& atoms);

}  // namespace planlog
