// A set of states as bits, numbered in the order in which they were added. Bit b of a
// state tells whether the set's atom b is true in it; atoms are added as they are met.
#pragma once

#include <cstdint>
#include <vector>

#include "pddl/domain.hpp"

namespace planlog {

class StateSet {
  public:
    // The number of a new atom.
    uint32_t add_atom(PredicateId predicate, const ObjectId* values, size_t arity);
    const AtomList& atoms() const { return atoms_; }

    size_t size() const { return hashes_.size(); }
    size_t width() const { return width_; }  // 64-bit words of a state
    const uint64_t* state(uint32_t number) const { return bits_.data() + number * width_; }
    const std::vector<uint64_t>& bits() const { return bits_; }

    // Prepares a candidate: a copy of a state (or the empty one) in which atoms are changed.
    void draft();
    void draft(uint32_t number);
    void set(uint32_t atom, bool value);
    // The number of the state that equals the draft; size() if there is none yet.
    uint32_t find_draft();
    void add_draft();  // it must be new, as `find_draft` has just told

  private:
    void widen();
    void grow_table();

    AtomList atoms_;
    size_t width_ = 1;
    std::vector<uint64_t> bits_;
    std::vector<uint64_t> hashes_;  // the xor of the hashes of the true atoms
    std::vector<uint32_t> table_;   // open addressing; numbers of states
    std::vector<uint64_t> draft_ = std::vector<uint64_t>(1);
    uint64_t draft_hash_ = 0;
    size_t slot_ = 0;  // where the last `find_draft` ended
};

}  // namespace planlog
