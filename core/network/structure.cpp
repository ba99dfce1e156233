#include "network/structure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "util/graph.hpp"

namespace planlog {

NetworkStructure::NetworkStructure(const Program& program, std::span<const uint32_t> numbers,
                                   std::span<const uint32_t> with_features)
    : rule_of(program.rules().size(), no_rule),
      deriving(program.relations().size()),
      components(planlog::components(program)),
      component_of(program.relations().size()),
      feature_columns(program.relations().size()) {
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
    for (const uint32_t relation : with_features) {
        if (relation >= feature_columns.size()) throw std::invalid_argument("no such relation");
        const RelationInfo& info = program.relations()[relation];
        std::vector<uint32_t>& columns = feature_columns[relation];
        columns.clear();
        for (uint32_t column = 0; column < info.arity; ++column)
            if (info.numbers >> column & 1) columns.push_back(column);
        if (columns.empty() || is_derived(RelationId(relation)))
            throw std::invalid_argument("only inputs with integers have features");
    }
}

std::vector<float> NetworkStructure::features(RelationId relation, const uint32_t* values,
                                              const NumberTable& table) const {
    std::vector<float> result{1};
    for (const uint32_t column : feature_columns[index(relation)]) {
        const auto number = static_cast<double>(table[values[column]]);
        result.push_back(static_cast<float>(std::copysign(std::log1p(std::abs(number)), number)));
    }
    return result;
}

// --- The order within a recursive component ------------------------------------

namespace {

constexpr uint32_t none = UINT32_MAX;

struct GroundRule {
    uint32_t head;
    std::vector<uint32_t> body;  // those of its atoms that are in the component
    DerivationOrder::Derivation derivation;
};

// The round of a naive evaluation in which each atom is first derived, from 1 on.
std::vector<uint32_t> rounds_of(size_t atom_count, const std::vector<GroundRule>& rules) {
    std::vector<std::vector<uint32_t>> uses(atom_count);
    std::vector<size_t> missing(rules.size());
    std::vector<uint32_t> rounds(atom_count, 0), reached;
    const auto derive = [&](uint32_t atom, uint32_t round) {
        if (rounds[atom] != 0) return;
        rounds[atom] = round;
        reached.push_back(atom);
    };
    for (uint32_t r = 0; r < rules.size(); ++r) {
        missing[r] = rules[r].body.size();
        for (uint32_t atom : rules[r].body) uses[atom].push_back(r);
        if (rules[r].body.empty()) derive(rules[r].head, 1);
    }
    for (size_t i = 0; i < reached.size(); ++i)
        for (uint32_t r : uses[reached[i]])
            if (--missing[r] == 0) derive(rules[r].head, rounds[reached[i]] + 1);
    return rounds;
}

}  // namespace

DerivationOrder derivation_order(const Materialization& materialization,
                                 const NetworkStructure& structure, uint32_t component) {
    std::vector<DerivationOrder::Atom> atoms;
    std::vector<std::vector<uint32_t>> numbers(structure.component_of.size());  // relation and row
    for (RelationId id : structure.components[component].relations) {
        const Relation& relation = materialization.relation(id);
        numbers[index(id)].assign(relation.row_count(), none);
        for (Row row : relation.true_rows()) {
            numbers[index(id)][row] = static_cast<uint32_t>(atoms.size());
            atoms.push_back({id, row, 0, 0});
        }
    }
    std::vector<GroundRule> rules;
    std::vector<uint32_t> first{0};  // rule of each atom
    std::vector<uint32_t> offsets{0}, targets;
    for (uint32_t a = 0; a < atoms.size(); ++a) {
        materialization.derivations().derivations_of(
            {atoms[a].relation, atoms[a].row}, [&](uint32_t rule, const Row* rows) {
                GroundRule& ground = rules.emplace_back(GroundRule{a, {}, {rule, rows}});
                for (const auto& [position, relation] :
                     structure.rules[structure.rule_of[rule]].body)
                    if (structure.component_of[index(relation)] == component)
                        ground.body.push_back(numbers[index(relation)][rows[position]]);
                targets.insert(targets.end(), ground.body.begin(), ground.body.end());
            });
        first.push_back(static_cast<uint32_t>(rules.size()));
        offsets.push_back(static_cast<uint32_t>(targets.size()));
    }
    const std::vector<uint32_t> cycle = strong_components({offsets, targets, atoms.size()});
    std::vector<uint32_t> sizes(atoms.size()), rounds(atoms.size());
    for (uint32_t c : cycle) ++sizes[c];
    // Rounds matter only between atoms of one cycle.
    if (std::ranges::any_of(sizes, [](uint32_t size) { return size > 1; }))
        rounds = rounds_of(atoms.size(), rules);

    std::vector<uint32_t> order(atoms.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](uint32_t a) { return std::tuple(cycle[a], rounds[a], a); });
    DerivationOrder result;
    for (uint32_t a : order) {
        atoms[a].first = static_cast<uint32_t>(result.derivations.size());
        for (uint32_t r = first[a]; r < first[a + 1]; ++r)
            if (std::ranges::all_of(rules[r].body, [&](uint32_t other) {
                    return cycle[other] != cycle[a] || rounds[other] < rounds[a];
                }))
                result.derivations.push_back(rules[r].derivation);
        atoms[a].last = static_cast<uint32_t>(result.derivations.size());
        result.atoms.push_back(atoms[a]);
    }
    return result;
}

}  // namespace planlog
