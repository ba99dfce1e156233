// The rules of a program that belong to a network, and the order in which it is computed: component
// by component, and within recursive ones atom by atom.
#pragma once

#include <span>
#include <vector>

#include "datalog/materialization.hpp"

namespace planlog {

struct NetworkStructure {
    struct PositiveLiteral {
        uint32_t position;  // in the body
        RelationId relation;
    };
    struct NetworkRule {
        RelationId head;
        std::vector<PositiveLiteral> body;
    };
    static constexpr uint32_t no_rule = UINT32_MAX;

    // Throws std::invalid_argument if a rule is listed twice, if not all rules of a component are
    // listed, or if a relation with features is derived or has no column of integers.
    NetworkStructure(const Program& program, std::span<const uint32_t> numbers,
                     std::span<const uint32_t> with_features);

    // Relations that no rule of the network derives are inputs.
    bool is_derived(RelationId relation) const { return !deriving[index(relation)].empty(); }
    // The value of an input atom is the vector of its features, or 1 if it has none.
    bool has_features(RelationId relation) const {
        return !feature_columns[index(relation)].empty();
    }
    uint32_t input_dimension(RelationId relation) const {
        return 1 + static_cast<uint32_t>(feature_columns[index(relation)].size());
    }
    // The features of an atom with these values: 1, and sign(n) ln(1 + |n|) for each integer n.
    std::vector<float> features(RelationId relation, const uint32_t* values,
                                const NumberTable& table) const;
    // The network's number of a rule of the program, which may have grown for a task; or no_rule.
    uint32_t find(uint32_t number) const {
        return number < rule_of.size() ? rule_of[number] : no_rule;
    }

    std::vector<NetworkRule> rules;
    std::vector<uint32_t> rule_of;                // per rule of the program
    std::vector<std::vector<uint32_t>> deriving;  // per relation: the rules with this head
    std::vector<Component> components;            // each after those that it depends on
    std::vector<uint32_t> component_of;           // per relation
    // Per relation with features: the columns of its integers.
    std::vector<std::vector<uint32_t>> feature_columns;
};

// The order in which the atoms of a recursive component get their values, and the derivations that
// these are computed from.
//
// An atom comes after the atoms that it is derived from. Where derivations form a cycle (recursion
// over cyclic data), only those count whose atoms of the same cycle were derived in earlier rounds
// of a naive evaluation than their head. So the order depends on the state alone, not on the
// history of the materialization.
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
