// In which order the atoms of a recursive component get their values, and from which of
// their derivations.
//
// An atom comes after those it is derived from. If derivations go in a circle (recursion
// on cyclic data), those inside it that do not lead from atoms derived earlier to one
// derived later are left out. Earlier means: in an earlier round of an evaluation from
// scratch. So the order depends on the state only, not on how the model came to it.
#pragma once

#include <vector>

#include "datalog/materialization.hpp"

namespace planlog {

struct DerivationOrder {
    struct Atom {
        RelationId relation;
        Row row;
        uint32_t first, last;  // its derivations
    };
    struct Derivation {
        uint32_t rule;
        const Row* body;
    };
    std::vector<Atom> atoms;
    std::vector<Derivation> derivations;
    bool goes_round = false;  // some derivations are left out
};

// `component_of` has the number of each relation's component.
DerivationOrder derivation_order(const Materialization& materialization, const Component& component,
                                 const std::vector<uint32_t>& component_of);

}  // namespace planlog
