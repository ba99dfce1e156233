#include "pddl/stratification.hpp"

#include <algorithm>

#include "util/graph.hpp"

namespace planlog {

namespace {

// A literal in the body of an axiom: the predicate that is defined needs another one.
struct Need {
    uint32_t from, to;
    bool negated;
};
using Needs = std::vector<std::vector<Need>>;  // by the predicate that needs

// A shortest cycle that begins with this need, which is on one.
std::vector<Need> cycle_through(const Needs& needs, Need first) {
    std::vector<std::optional<Need>> reached_by(needs.size());
    std::vector<uint32_t> queue = {first.to};
    reached_by[first.to] = first;
    for (size_t i = 0; i < queue.size() && queue[i] != first.from; ++i) {
        for (const Need need : needs[queue[i]]) {
            if (reached_by[need.to]) continue;
            reached_by[need.to] = need;
            queue.push_back(need.to);
        }
    }
    std::vector<Need> cycle;
    for (uint32_t at = first.from; cycle.empty() || at != first.from; at = cycle.back().from)
        cycle.push_back(*reached_by[at]);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

// The cycle in the user's terms: it skips auxiliary predicates, and a step is negated if the number
// of negations on the skipped way is odd.
NegativeCycle describe(const Domain& domain, std::vector<Need> cycle) {
    const auto declared = [&](Need need) {
        return domain.predicates[need.to].kind == PredicateKind::Derived;
    };
    // Auxiliary predicates only need parts of their condition, so a declared one is on the cycle.
    std::rotate(cycle.begin(), std::find_if(cycle.begin(), cycle.end(), declared) + 1, cycle.end());
    const auto name = [&](uint32_t id) { return "'" + domain.predicates[id].name + "'"; };
    NegativeCycle result{PredicateId{cycle[0].from}, name(cycle[0].from), true};
    bool negated = false;
    for (const Need need : cycle) {
        negated = negated != need.negated;
        if (!declared(need)) continue;
        result.path += (negated ? " -> not " : " -> ") + name(need.to);
        result.only_forall = result.only_forall && !negated;
        negated = false;
    }
    return result;
}

}  // namespace

std::optional<NegativeCycle> find_negative_cycle(const Domain& domain) {
    Needs needs(domain.predicates.size());
    for (const Axiom& axiom : domain.axioms)
        for (const Literal& literal : axiom.body)
            if (literal.kind == LiteralKind::Atom)
                needs[index(axiom.head)].push_back(
                    {index(axiom.head), index(literal.predicate), literal.negated});
    std::vector<uint32_t> offsets{0}, targets;
    for (const std::vector<Need>& of_one : needs) {
        for (const Need need : of_one) targets.push_back(need.to);
        offsets.push_back(static_cast<uint32_t>(targets.size()));
    }
    const std::vector<uint32_t> component = strong_components({offsets, targets, needs.size()});
    for (const std::vector<Need>& of_one : needs)
        for (const Need need : of_one)
            if (need.negated && component[need.from] == component[need.to])
                return describe(domain, cycle_through(needs, need));
    return {};
}

}  // namespace planlog
