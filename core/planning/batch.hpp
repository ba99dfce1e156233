// The canonical models of one or many states as flat arrays, for learning: the atoms of each
// relation, and the derivations of each rule as the numbers of their atoms.
#pragma once

#include <vector>

#include "datalog/materialization.hpp"

namespace planlog {

// The true atoms of a relation, one state after another: those of state s are the rows from
// offsets[s] up to offsets[s + 1]. A static relation holds its rows once for all states.
struct AtomArray {
    bool is_static = false;
    uint32_t arity = 0;
    ColumnMask numbers = 0;  // columns that hold ids of numbers
    std::vector<ObjectId> values;
    std::vector<uint32_t> offsets{0};
};

// The derivations of a rule. `heads[d]` and `bodies[d * width + i]` are rows of the atom arrays of
// the head's relation and of the relation of the i-th positive literal.
struct DerivationArray {
    bool is_static = false;
    uint32_t width = 0;
    std::vector<uint32_t> heads;
    std::vector<uint32_t> bodies;
    std::vector<uint32_t> offsets{0};
};

class Batch {
  public:
    explicit Batch(const Materialization& materialization);
    void append(const Materialization& materialization);  // adds its present state

    std::vector<AtomArray> relations;
    std::vector<DerivationArray> rules;

  private:
    bool static_done_ = false;
    std::vector<std::vector<uint32_t>> numbers_;  // per relation and row: the row of the array
};

}  // namespace planlog
