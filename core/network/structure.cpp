#include "network/structure.hpp"

#include <algorithm>
#include <stdexcept>

namespace planlog {

NetworkStructure::NetworkStructure(const Program& program, std::span<const uint32_t> numbers)
    : rule_of(program.rules().size(), no_rule),
      deriving(program.relations().size()),
      components(planlog::components(program)),
      component_of(program.relations().size()) {
    for (const uint32_t number : numbers) {
        if (number >= rule_of.size() || rule_of[number] != no_rule)
            throw std::invalid_argument("a rule of the network is unknown or listed twice");
        const Rule& rule = program.rules()[number];
        rule_of[number] = static_cast<uint32_t>(rules.size());
        deriving[index(rule.head)].push_back(rule_of[number]);
        NetworkRule& added = rules.emplace_back(NetworkRule{rule.head, {}});
        for (uint32_t l = 0; l < rule.body.size(); ++l)
            if (!rule.body[l].negated) added.body.push_back({l, rule.body[l].relation});
    }
    for (uint32_t c = 0; c < components.size(); ++c) {
        for (RelationId relation : components[c].relations) component_of[index(relation)] = c;
        const auto listed = std::ranges::count_if(
            components[c].rules, [&](uint32_t number) { return rule_of[number] != no_rule; });
        if (listed != 0 && listed != std::ssize(components[c].rules))
            throw std::invalid_argument(
                "a network needs all rules of a relation, and of those "
                "that are mutually recursive with it");
    }
}

}  // namespace planlog
