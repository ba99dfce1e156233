// The rules of a program that belong to a network, and the components in whose order it is
// computed.
#pragma once

#include <span>
#include <vector>

#include "datalog/program.hpp"

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

    // Throws std::invalid_argument if a rule is listed twice, or if not all rules of a component
    // are listed.
    NetworkStructure(const Program& program, std::span<const uint32_t> numbers);

    // Relations that no rule of the network derives are inputs.
    bool is_derived(RelationId relation) const { return !deriving[index(relation)].empty(); }
    // The network's number of a rule of the program, which may have grown for a task; or no_rule.
    uint32_t find(uint32_t number) const {
        return number < rule_of.size() ? rule_of[number] : no_rule;
    }

    std::vector<NetworkRule> rules;
    std::vector<uint32_t> rule_of;                // per rule of the program
    std::vector<std::vector<uint32_t>> deriving;  // per relation: the rules with this head
    std::vector<Component> components;            // each after those that it depends on
    std::vector<uint32_t> component_of;           // per relation
};

}  // namespace planlog
