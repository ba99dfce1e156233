// Candidates for the true rows of a relation of least values: the rows that have derivations.
//
// For each key, the candidate with the least number is true. The rows of the others stay, since
// they are next when this one loses its derivations.
#pragma once

#include <vector>

#include "datalog/derivation_store.hpp"

namespace planlog {

// A row that may become true, and its number.
struct Candidate {
    int64_t value;
    AtomRef atom;
    // Smaller numbers first, in a heap of the standard library; then the order is arbitrary but
    // fixed.
    bool operator<(const Candidate& other) const {
        return std::tie(value, atom) > std::tie(other.value, other.atom);
    }
};

class LeastValues {
  public:
    LeastValues(const RelationInfo& info, Relation& relation, uint32_t object_count);

    int64_t value(const Relation& relation, Row row, const NumberTable& numbers) const {
        return numbers[relation.values(row)[column_]];
    }
    // The true row with the key of a row, or no_row.
    Row true_row(const Relation& relation, Row row) const;
    // The candidate with the key of a row and the least number, or no_row.
    Row best(const Relation& relation, Row row, const NumberTable& numbers) const;

    void insert(const Relation& relation, Row row) { candidates_.insert(row, relation.values(0)); }
    void erase(const Relation& relation, Row row) { candidates_.erase(row, relation.values(0)); }
    void clear() { candidates_.clear(); }

  private:
    void copy_key(const uint32_t* values, uint32_t* key) const;

    uint32_t column_;
    uint32_t arity_;
    uint32_t index_;    // of the relation, on the key
    Index candidates_;  // on the key
};

}  // namespace planlog
