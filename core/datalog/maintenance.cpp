// Incremental maintenance; materialization.hpp describes the algorithms.
#include <algorithm>
#include <bit>

#include "datalog/materialization.hpp"

namespace planlog {

void Materialization::finish() {
    plans_.before_update(relations_);
    // Work in a component makes work in later ones only.
    for (size_t i = 0; i < has_work_.size(); ++i) {
        while (has_work_[i] != 0) {
            const int bit = std::countr_zero(has_work_[i]);
            has_work_[i] &= has_work_[i] - 1;
            update_component(static_cast<uint32_t>(i * 64 + static_cast<size_t>(bit)));
        }
    }
}

// --- Changes -----------------------------------------------------------------

void Materialization::remove_derivation(uint32_t r, DerivationStore::Slot slot) {
    steps_.step();
    const CompiledRule& rule = rules_[r];
    const AtomRef head{rule.head, derivations_.remove(r, slot)};
    if (!derivations_.is_active(r)) return;
    if (rule.is_least && derivations_.support(head).count == 0)
        least_values(head.relation).erase(head.row);
    if (is_tracking_) rederived_.push_back(head);
    touch(head);
    if (rule.is_recursive) work_[rule.component].dirty.push_back(head);
}

// Ends the derivations that use the atom positively (or negated), in one component or in all.
void Materialization::end_uses(AtomRef atom, bool positive,
                               std::optional<uint32_t> only_component) {
    const std::vector<Occurrence>& occurrences = dependencies(atom.relation).occurrences;
    for (uint32_t o = 0; o < occurrences.size(); ++o) {
        const auto [r, literal] = occurrences[o];
        const CompiledRule& rule = rules_[r];
        if (only_component && rule.component != *only_component) continue;
        if (!derivations_.is_active(r)) {  // several literals of a rule defer a change once
            if (o == 0 || occurrences[o - 1].rule != r) defer(r, atom);
            continue;
        }
        if (rule.query.body[literal].negated == positive) continue;
        const DerivationStore::Slot& first = derivations_.first_use(atom, o);
        while (first != DerivationStore::no_slot) remove_derivation(r, first);
    }
}

// Puts a derived atom among those that the update of its component may change.
void Materialization::touch(AtomRef atom) {
    if (is_evaluating_) return;
    Support& support = derivations_.support(atom);
    if (support.is_touched) return;
    support.is_touched = true;
    support.was_true = is_true(atom);
    work_of(dependencies(atom.relation).component).touched.push_back(atom);
}

// Ends the uses of an atom that has changed, and passes the change on to the components that
// read the atom.
void Materialization::propagate(AtomRef atom) {
    const bool value = is_true(atom);
    const RelationDependencies& relation = dependencies(atom.relation);
    if (!relation.occurrences.empty()) end_uses(atom, !value, std::nullopt);
    for (uint32_t reader : value ? relation.positive_readers : relation.negated_readers)
        work_of(reader).changes.push_back(atom);
    for (uint32_t rule : relation.gated_rules)
        work_of(rules_[rule].component).gated.push_back(rule);
}

Materialization::Work& Materialization::work_of(uint32_t c) {
    has_work_[c / 64] |= uint64_t{1} << c % 64;
    return work_[c];
}

// --- Update of a component ---------------------------------------------------

void Materialization::update_component(uint32_t c) {
    Work& work = work_[c];
    const Component& component = compiled_->components[c];
    if (component.aggregate) return update_aggregate(c);
    const bool is_least = component.least;
    const bool is_recursive = component.recursive;
    queue_.clear();
    for (uint32_t r : work.gated) {
        const bool hold = gates_hold(r);
        if (hold != derivations_.is_active(r)) hold ? open(r) : close(r);
    }
    if (is_recursive) retract_unfounded(c);
    for (const AtomRef& atom : work.changes) {
        set_stamp(atom);
        queue_.push_back(atom);
    }
    work.changes.clear();
    if (is_recursive && !is_least) restore_supported(c);
    process_queue(c);
    if (is_least) settle_least_values(c);
    for (uint32_t r : work.gated) gates_[r].was_opened = false;
    work.gated.clear();
    commit(c);
}

// Deletes the atoms without well-founded support, and what depends on them.
void Materialization::retract_unfounded(uint32_t c) {
    auto& dirty = work_[c].dirty;
    std::vector<AtomRef> lost;
    for (size_t i = 0; i < dirty.size(); ++i) {  // grows while atoms are retracted
        steps_.step();
        const AtomRef atom = dirty[i];
        if (!is_true(atom) || is_well_founded(atom)) continue;
        if (compiled_->components[c].least) {
            set_least(atom, false);
            lost.push_back(atom);
        } else {
            relations_[index(atom.relation)].set(atom.row, false);
        }
        end_uses(atom, true, c);
    }
    dirty.clear();
    for (const AtomRef atom : lost) push_best(atom);
}

// The least rank of an atom's derivations.
uint32_t Materialization::rank_from_derivations(AtomRef atom) const {
    uint32_t rank = UINT32_MAX;
    derivations_.derivations_of(
        atom, [&](uint32_t rule, const Row* body) { rank = std::min(rank, rank_of(rule, body)); });
    return rank;
}

bool Materialization::is_well_founded(AtomRef atom) const {
    const uint32_t rank = derivations_.support(atom).rank;
    bool found = false;
    derivations_.derivations_of(atom, [&](uint32_t rule, const Row* body) {
        found = found || rank_of(rule, body) <= rank;
    });
    return found;
}

// Brings retracted atoms back that still have derivations, since these use only atoms that
// stayed true.
void Materialization::restore_supported(uint32_t c) {
    for (const AtomRef atom : work_[c].touched) {
        steps_.step();
        Support& support = derivations_.support(atom);
        if (is_true(atom) || support.count == 0) continue;
        support.rank = rank_from_derivations(atom);
        relations_[index(atom.relation)].set(atom.row, true);
        set_stamp(atom);
        queue_.push_back(atom);
    }
}

// Gives the touched atoms their truth values and propagates those that differ from before.
void Materialization::commit(uint32_t c) {
    Work& work = work_[c];
    const bool is_least = compiled_->components[c].least;
    for (const AtomRef atom : work.touched) {
        steps_.step();
        Support& support = derivations_.support(atom);
        support.is_touched = false;
        const bool value = is_least ? is_true(atom) : support.count > 0;
        if (is_true(atom) != value) relations_[index(atom.relation)].set(atom.row, value);
        if (value != support.was_true) propagate(atom);
    }
    work.touched.clear();
}

// --- Gates -------------------------------------------------------------------

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
        steps_.step();
        if (is_tracking_) rederived_.push_back({head, row});
        touch({head, row});
    });
}

// Records a change for a rule with a closed gate. Drops the rule's derivations when evaluating it
// again is cheaper than updating them.
void Materialization::defer(uint32_t r, AtomRef atom) {
    RuleGate& gate = gates_[r];
    if (!gate.is_evaluated) return;
    gate.deferred.push_back(atom);
    if (gate.deferred.size() <= derivations_.stored(r) + 256) return;
    derivations_.discard(r);
    gate.is_evaluated = false;
    gate.deferred.clear();
}

}  // namespace planlog
