// The order in which the atoms of a recursive component get their values, and the derivations that
// these are computed from.
//
// An atom comes after the atoms that it is derived from. Where derivations form a cycle (recursion
// over cyclic data), only those count whose atoms of the same cycle were derived in earlier rounds
// of a naive evaluation than their head. So the order depends on the state alone, not on the
// history of the materialization.
#pragma once

#include <vector>

#include "datalog/materialization.hpp"
#include "network/structure.hpp"

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
};

DerivationOrder derivation_order(const Materialization& materialization,
                                 const NetworkStructure& structure, uint32_t component);

}  // namespace planlog
