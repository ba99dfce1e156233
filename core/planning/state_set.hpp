// A set of states as bit vectors, numbered in the order in which they were added. Bit b of a state
// tells whether atom b of the set is true in it; atoms are added as they are met.
#pragma once

#include <cstdint>
#include <vector>

#include "pddl/domain.hpp"
#include "util/intern_table.hpp"

namespace planlog {

class StateSet {
  public:
    static constexpr uint32_t none = InternTable::none;

    // Returns the number of the new atom.
    uint32_t add_atom(PredicateId predicate, const ObjectId* values, size_t arity);
    const AtomList& atoms() const { return atoms_; }

    size_t size() const { return numbers_.size(); }
    size_t width() const { return width_; }  // 64-bit words of a state
    const uint64_t* state(uint32_t number) const { return bits_.data() + number * width_; }
    const std::vector<uint64_t>& bits() const { return bits_; }
    size_t memory() const { return bits_.capacity() * sizeof(uint64_t) + numbers_.memory(); }

    // Starts a draft: a copy of a state, or the empty state, in which atoms can be changed.
    void draft();
    void draft(uint32_t number);
    void set(uint32_t atom, bool value);
    // Returns the number of the state that equals the draft. A new one is added, unless the set
    // has `limit` states: then the result is `none`.
    uint32_t add_draft(size_t limit);

  private:
    void widen();

    AtomList atoms_;
    size_t width_ = 1;
    std::vector<uint64_t> bits_;
    InternTable numbers_;  // by the xor of the hashes of the true atoms
    std::vector<uint64_t> draft_ = std::vector<uint64_t>(1);
    uint64_t draft_hash_ = 0;
};

}  // namespace planlog
