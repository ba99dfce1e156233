// The models of one or many states as flat arrays: atoms per relation, and per
// rule every derivation as the numbers of its atoms. What learning reads.
#pragma once

#include <vector>

#include "datalog/materialization.hpp"

namespace planlog {

// The true atoms of a relation, states one after another: those of state s are the
// rows offsets[s] .. offsets[s + 1). A static relation has the same rows in every
// state and holds them once.
struct AtomArray {
    bool is_static = false;
    uint32_t arity = 0;
    std::vector<ObjectId> values;
    std::vector<uint32_t> offsets{0};
};

// The derivations of a rule. `heads[d]` and `bodies[d * width + i]` are rows of the
// atom arrays of the head's relation and of the i-th positive literal's.
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
    void append(const Materialization& materialization);  // the state that the model is at

    std::vector<AtomArray> relations;
    std::vector<DerivationArray> rules;

  private:
    bool static_done_ = false;
    std::vector<std::vector<uint32_t>> numbers_;  // per relation: model's row -> array's row
};

}  // namespace planlog
