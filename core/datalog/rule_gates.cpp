// Gates: literals without arguments that decide for all derivations of their rule at once;
// materialization.hpp describes them.
#include <algorithm>

#include "datalog/materialization.hpp"

namespace planlog {

bool Materialization::gates_hold(uint32_t r) const {
    const CompiledRule& rule = rules_[r];
    return std::all_of(rule.gates.begin(), rule.gates.end(), [&](uint32_t l) {
        const BodyLiteral& literal = rule.query.body[l];
        return relation(literal.relation).holds(nullptr) != literal.negated;
    });
}

void Materialization::open(uint32_t r) {
    const CompiledRule& rule = rules_[r];
    RuleGate& gate = gates_[r];
    gate.was_opened = true;
    if (!gate.is_evaluated) {
        set_active(r, true);
        evaluate_rule(r);
        return;
    }
    // Derivations that use a deferred atom are removed, and found again if the literal holds.
    std::vector<AtomRef>& deferred = gate.deferred;
    std::sort(deferred.begin(), deferred.end());
    deferred.erase(std::unique(deferred.begin(), deferred.end()), deferred.end());
    const auto for_each_use = [&](auto visit) {
        for (const AtomRef& atom : deferred) {
            const std::vector<Occurrence>& occurrences = dependencies(atom.relation).occurrences;
            for (uint32_t o = 0; o < occurrences.size(); ++o)
                if (occurrences[o].rule == r) visit(atom, o, occurrences[o].literal);
        }
    };
    for_each_use([&](AtomRef atom, uint32_t o, uint32_t) {
        const DerivationStore::Slot& first = derivations_.first_use(atom, o);
        while (first != DerivationStore::no_slot) derivations_.remove(r, first);
    });
    set_active(r, true);
    for (const AtomRef& atom : deferred) set_stamp(atom);
    for_each_use([&](AtomRef atom, uint32_t, uint32_t literal) {
        if (rule.query.body[literal].negated != is_true(atom)) trigger_literal(atom, r, literal);
    });
    deferred.clear();
}

void Materialization::close(uint32_t r) {
    set_active(r, false);
    // The changes of this update have removed derivations already, but not yet added any.
    for (const AtomRef& atom : work_[rules_[r].component].changes)
        for (const Occurrence& occurrence : dependencies(atom.relation).occurrences)
            if (occurrence.rule == r) gates_[r].deferred.push_back(atom);
}

void Materialization::set_active(uint32_t r, bool value) {
    const RelationId head = rules_[r].head;
    derivations_.set_active(r, value, [&](Row row) {
        if (is_tracking_) rederived_.push_back({head, row});
        touch({head, row});
    });
}

// Records a change for a rule with a closed gate.
void Materialization::defer(uint32_t r, AtomRef atom) {
    RuleGate& gate = gates_[r];
    if (!gate.is_evaluated) return;
    gate.deferred.push_back(atom);
    if (gate.deferred.size() > derivations_.stored(r) + 256) discard(r);
}

// Drops the derivations of a rule with a closed gate, when evaluating the rule again is cheaper
// than updating them.
void Materialization::discard(uint32_t r) {
    derivations_.discard(r);
    gates_[r].is_evaluated = false;
    gates_[r].deferred.clear();
}

}  // namespace planlog
