#include "network/derivation_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "util/graph.hpp"

namespace planlog {

namespace {

constexpr uint32_t none = UINT32_MAX;

struct GroundRule {
    uint32_t head;
    std::vector<uint32_t> body;  // those of its atoms that are in the component
    DerivationOrder::Derivation derivation;
};

// In which round of an evaluation from scratch each atom is first derived, from 1 on.
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

DerivationOrder derivation_order(const Materialization& materialization, const Component& component,
                                 const std::vector<uint32_t>& component_of) {
    DerivationOrder result;
    std::vector<DerivationOrder::Atom> atoms;
    std::vector<std::vector<uint32_t>> numbers(component_of.size());  // per relation and row
    for (RelationId id : component.relations) {
        const Relation& relation = materialization.relation(id);
        numbers[index(id)].assign(relation.row_count(), none);
        for (Row row = 0; row < relation.row_count(); ++row) {
            if (!relation.is_true(row)) continue;
            numbers[index(id)][row] = static_cast<uint32_t>(atoms.size());
            atoms.push_back({id, row, 0, 0});
        }
    }
    const uint32_t own = component_of[index(component.relations.front())];
    std::vector<GroundRule> rules;
    std::vector<uint32_t> first{0};  // rule of each atom
    std::vector<uint32_t> offsets{0}, targets;
    for (uint32_t a = 0; a < atoms.size(); ++a) {
        materialization.derivations().derivations_of(
            {atoms[a].relation, atoms[a].row}, [&](uint32_t rule, const Row* rows) {
                GroundRule& ground = rules.emplace_back(GroundRule{a, {}, {rule, rows}});
                const auto& body = materialization.program().rules()[rule].body;
                for (size_t l = 0; l < body.size(); ++l) {
                    const uint32_t relation = index(body[l].relation);
                    if (body[l].negated || relation >= component_of.size() ||
                        component_of[relation] != own)
                        continue;
                    ground.body.push_back(numbers[relation][rows[l]]);
                    targets.push_back(ground.body.back());
                    result.goes_round = result.goes_round || ground.body.back() == a;
                }
            });
        first.push_back(static_cast<uint32_t>(rules.size()));
        offsets.push_back(static_cast<uint32_t>(targets.size()));
    }
    const std::vector<uint32_t> circle = strong_components({offsets, targets, atoms.size()});
    std::vector<uint32_t> sizes(atoms.size());
    for (uint32_t c : circle) result.goes_round = ++sizes[c] > 1 || result.goes_round;
    std::vector<uint32_t> rounds(atoms.size());
    if (result.goes_round) rounds = rounds_of(atoms.size(), rules);

    std::vector<uint32_t> order(atoms.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return std::tuple(circle[a], rounds[a], a) < std::tuple(circle[b], rounds[b], b);
    });
    for (uint32_t a : order) {
        atoms[a].first = static_cast<uint32_t>(result.derivations.size());
        for (uint32_t r = first[a]; r < first[a + 1]; ++r) {
            const bool leads_on =
                std::all_of(rules[r].body.begin(), rules[r].body.end(), [&](uint32_t other) {
                    return circle[other] != circle[a] || rounds[other] < rounds[a];
                });
            if (leads_on) result.derivations.push_back(rules[r].derivation);
        }
        atoms[a].last = static_cast<uint32_t>(result.derivations.size());
        result.atoms.push_back(atoms[a]);
    }
    return result;
}

}  // namespace planlog
