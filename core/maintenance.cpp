// Keeping a model up to date; model.hpp tells how.
#include <algorithm>
#include <bit>

#include "model.hpp"

namespace planlog {

// --- Derivations -------------------------------------------------------------

void Model::insert(uint32_t r, const uint32_t* match) {
    const RuleData& rule = rules_[r];
    const size_t body_size = rule.query.body.size();
    const ObjectId* binding = match + body_size;
    ObjectId values[max_arity];
    const auto fill = [&](const std::vector<Term>& terms) {
        for (size_t i = 0; i < terms.size(); ++i)
            values[i] = terms[i].is_variable ? binding[terms[i].value] : terms[i].value;
        return values;
    };
    Pool& pool = pools_[r];
    const Row head = intern(rule.head, fill(rule.head_terms));
    Slot slot = pool.free;
    if (slot != no_slot) {
        pool.free = pool.data[size_t{slot} * pool.stride + 1];
    } else {
        slot = static_cast<Slot>(pool.data.size() / pool.stride);
        pool.data.resize(pool.data.size() + pool.stride);
    }
    ++pool.live;
    uint32_t* derivation = pool.data.data() + size_t{slot} * pool.stride;
    derivation[0] = head;
    std::copy_n(match, body_size, derivation + 1);

    const auto link = [&](Slot& first, uint32_t at) {
        derivation[at] = first;
        derivation[at + 1] = no_slot;
        if (first != no_slot) pool.data[size_t{first} * pool.stride + at + 1] = slot;
        first = slot;
    };
    Ledger& ledger = ledgers_[index(rule.head)];
    link(ledger.derivations[head * ledger.deriving.size() + rule.deriving_position],
         static_cast<uint32_t>(body_size) + 1);
    for (uint32_t l = 0; l < body_size; ++l) {
        if (rule.link_at[l] == 0) continue;
        const BodyLiteral& literal = rule.query.body[l];
        // The atom of a negated literal is false, but has a row to be watched at.
        if (literal.negated) derivation[1 + l] = intern(literal.relation, fill(literal.terms));
        Ledger& used = ledgers_[index(literal.relation)];
        link(used.uses[derivation[1 + l] * used.occurrences.size() + rule.occurrence_position[l]],
             rule.link_at[l]);
    }

    ++ledger.entries[head].support;
    const Change change{rule.head, head};
    note_rederived(change);
    Relation& relation = relations_[index(rule.head)];
    if (components_[rule.component].recursive) {
        if (relation.is_true(head)) return;
        touch(change);
        ledger.entries[head].rank = rank_of(r, derivation + 1);
        relation.set(head, true);
        relation.set_stamp(head, ++stamp_);
        queue_.push_back(change);
    } else if (evaluating_) {
        if (!relation.is_true(head)) relation.set(head, true);
    } else {
        touch(change);
    }
}

void Model::remove(uint32_t r, Slot slot) {
    const RuleData& rule = rules_[r];
    Pool& pool = pools_[r];
    uint32_t* derivation = pool.data.data() + size_t{slot} * pool.stride;
    const auto unlink = [&](Slot& first, uint32_t at) {
        const Slot next = derivation[at], previous = derivation[at + 1];
        if (next != no_slot) pool.data[size_t{next} * pool.stride + at + 1] = previous;
        if (previous != no_slot)
            pool.data[size_t{previous} * pool.stride + at] = next;
        else
            first = next;
    };
    const Row head = derivation[0];
    const size_t body_size = rule.query.body.size();
    Ledger& ledger = ledgers_[index(rule.head)];
    unlink(ledger.derivations[head * ledger.deriving.size() + rule.deriving_position],
           static_cast<uint32_t>(body_size) + 1);
    for (uint32_t l = 0; l < body_size; ++l) {
        if (rule.link_at[l] == 0) continue;
        Ledger& used = ledgers_[index(rule.query.body[l].relation)];
        unlink(used.uses[derivation[1 + l] * used.occurrences.size() + rule.occurrence_position[l]],
               rule.link_at[l]);
    }
    derivation[0] = no_row;
    derivation[1] = pool.free;
    pool.free = slot;
    --pool.live;
    if (!rule.is_open) return;
    --ledger.entries[head].support;
    note_rederived({rule.head, head});
    touch({rule.head, head});
    if (components_[rule.component].recursive)
        work_[rule.component].suspects.push_back({rule.head, head});
}

// Ends the derivations that use the atom positively (or negated), in one component or in all.
void Model::end_uses(Change change, bool positive, std::optional<uint32_t> only_component) {
    Ledger& ledger = ledgers_[index(change.relation)];
    for (uint32_t o = 0; o < ledger.occurrences.size(); ++o) {
        const auto [rule, literal] = ledger.occurrences[o];
        if (only_component && rules_[rule].component != *only_component) continue;
        if (!rules_[rule].is_open) {  // several literals of a rule note a change once
            if (o == 0 || ledger.occurrences[o - 1].rule != rule) note(rule, change);
            continue;
        }
        if (rules_[rule].query.body[literal].negated == positive) continue;
        const Slot& first = ledger.uses[change.row * ledger.occurrences.size() + o];
        while (first != no_slot) remove(rule, first);
    }
}

void Model::touch(Change change) {
    if (evaluating_) return;
    Ledger& ledger = ledgers_[index(change.relation)];
    Ledger::Entry& entry = ledger.entries[change.row];
    if (entry.touched) return;
    entry.touched = true;
    entry.before = relations_[index(change.relation)].is_true(change.row);
    work_of(ledger.component).touched.push_back(change);
}

// Tells the components that read an atom that its truth value has changed.
void Model::announce(Change change) {
    const bool value = relations_[index(change.relation)].is_true(change.row);
    const Ledger& ledger = ledgers_[index(change.relation)];
    if (!ledger.occurrences.empty()) end_uses(change, !value, std::nullopt);
    for (uint32_t reader : value ? ledger.positive_readers : ledger.negated_readers)
        work_of(reader).changes.push_back(change);
    for (uint32_t rule : ledger.gated_rules) work_of(rules_[rule].component).gated.push_back(rule);
}

// --- Gates -------------------------------------------------------------------

bool Model::gates_hold(const RuleData& rule) const {
    return std::all_of(rule.gates.begin(), rule.gates.end(), [&](uint32_t l) {
        const BodyLiteral& literal = rule.query.body[l];
        return relations_[index(literal.relation)].holds(nullptr) != literal.negated;
    });
}

// Remembers a change that a closed rule has not taken in.
void Model::note(uint32_t r, Change change) {
    RuleData& rule = rules_[r];
    if (!rule.is_evaluated) return;
    rule.noted.push_back(change);
    if (rule.noted.size() > pools_[r].live + 256) forget(r);  // evaluating anew is cheaper
}

void Model::count_derivations(uint32_t r, bool count) {
    const Pool& pool = pools_[r];
    const RelationId head = rules_[r].head;
    Ledger& ledger = ledgers_[index(head)];
    for (size_t at = 0; at < pool.data.size(); at += pool.stride) {
        if (pool.data[at] == no_row) continue;
        count ? ++ledger.entries[pool.data[at]].support : --ledger.entries[pool.data[at]].support;
        note_rederived({head, pool.data[at]});
        touch({head, pool.data[at]});
    }
}

void Model::close(uint32_t r) {
    RuleData& rule = rules_[r];
    count_derivations(r, false);
    rule.is_open = false;
    // The changes of this update have ended derivations already, but not yet started any.
    for (const Change& change : work_[rule.component].changes)
        for (const Occurrence& occurrence : ledgers_[index(change.relation)].occurrences)
            if (occurrence.rule == r) rule.noted.push_back(change);
}

void Model::open(uint32_t r) {
    RuleData& rule = rules_[r];
    rule.was_opened = true;
    if (!rule.is_evaluated) {
        rule.is_open = true;
        evaluate_rule(r);
        return;
    }
    // What uses a noted atom ends, and is started anew if the atom's literal holds.
    std::vector<Change>& noted = rule.noted;
    std::sort(noted.begin(), noted.end());
    noted.erase(std::unique(noted.begin(), noted.end()), noted.end());
    const auto for_each_use = [&](auto visit) {
        for (const Change& change : noted) {
            const Ledger& ledger = ledgers_[index(change.relation)];
            for (uint32_t o = 0; o < ledger.occurrences.size(); ++o)
                if (ledger.occurrences[o].rule == r) visit(change, o, ledger);
        }
    };
    for_each_use([&](Change change, uint32_t o, const Ledger& ledger) {
        const Slot& first = ledger.uses[change.row * ledger.occurrences.size() + o];
        while (first != no_slot) remove(r, first);
    });
    rule.is_open = true;
    count_derivations(r, true);
    for (const Change& change : noted)
        relations_[index(change.relation)].set_stamp(change.row, ++stamp_);
    for_each_use([&](Change change, uint32_t o, const Ledger& ledger) {
        const uint32_t literal = ledger.occurrences[o].literal;
        const bool value = relations_[index(change.relation)].is_true(change.row);
        if (rule.query.body[literal].negated != value) trigger_literal(change, r, literal);
    });
    noted.clear();
}

// Gives up the derivations of a closed rule, which is then evaluated anew when it opens.
void Model::forget(uint32_t r) {
    Pool& pool = pools_[r];
    for (size_t at = 0; at < pool.data.size(); at += pool.stride)
        if (pool.data[at] != no_row) remove(r, static_cast<Slot>(at / pool.stride));
    rules_[r].is_evaluated = false;
    rules_[r].noted.clear();
}

// --- Maintenance -------------------------------------------------------------

void Model::change(PredicateId predicate, Row row, bool value) {
    if (!triggers_planned_) plan_triggers();
    set_row(state_relation(predicate), row, value);
    set_statuses(predicate, state(predicate).values(row), value);
}

void Model::finish() {
    if (++updates_ == next_review_) {
        next_review_ *= 2;
        if (plans_are_stale()) plan_triggers();
    }
    // Work in a component makes work in later ones only.
    for (size_t i = 0; i < has_work_.size(); ++i) {
        while (has_work_[i] != 0) {
            const int bit = std::countr_zero(has_work_[i]);
            has_work_[i] &= has_work_[i] - 1;
            update_component(static_cast<uint32_t>(i * 64 + static_cast<size_t>(bit)));
        }
    }
}

Model::Work& Model::work_of(uint32_t c) {
    has_work_[c / 64] |= uint64_t{1} << c % 64;
    return work_[c];
}

void Model::update_component(uint32_t c) {
    Work& work = work_[c];
    queue_.clear();
    for (uint32_t r : work.gated) {
        const bool hold = gates_hold(rules_[r]);
        if (hold != rules_[r].is_open) hold ? open(r) : close(r);
    }
    if (components_[c].recursive) retract_unfounded(c);
    for (const Change& change : work.changes) {
        relations_[index(change.relation)].set_stamp(change.row, ++stamp_);
        queue_.push_back(change);
    }
    work.changes.clear();
    if (components_[c].recursive) restore_supported(c);
    process_queue(c);
    for (uint32_t r : work.gated) rules_[r].was_opened = false;
    work.gated.clear();
    settle(c);
}

void Model::retract_unfounded(uint32_t c) {
    auto& suspects = work_[c].suspects;
    for (size_t i = 0; i < suspects.size(); ++i) {  // grows while atoms are retracted
        const Change change = suspects[i];
        Relation& relation = relations_[index(change.relation)];
        if (!relation.is_true(change.row) || is_founded(change)) continue;
        relation.set(change.row, false);
        end_uses(change, true, c);
    }
    suspects.clear();
}

bool Model::is_founded(Change change) const {
    const uint32_t rank = ledgers_[index(change.relation)].entries[change.row].rank;
    bool founded = false;
    derivations_of(change.relation, change.row, [&](uint32_t rule, const Row* body) {
        founded = founded || rank_of(rule, body) <= rank;
    });
    return founded;
}

// One more than the largest rank among the atoms of the rule's own component.
uint32_t Model::rank_of(uint32_t r, const Row* body) const {
    uint32_t rank = 0;
    for (uint32_t l : rules_[r].own) {
        const Ledger& ledger = ledgers_[index(rules_[r].query.body[l].relation)];
        rank = std::max(rank, ledger.entries[body[l]].rank + 1);
    }
    return rank;
}

// Retracted atoms that still have derivations: those use only atoms that stayed true.
void Model::restore_supported(uint32_t c) {
    const std::vector<Change>& touched = work_[c].touched;
    for (size_t i = 0; i < touched.size(); ++i) {
        const Change change = touched[i];
        Relation& relation = relations_[index(change.relation)];
        Ledger::Entry& entry = ledgers_[index(change.relation)].entries[change.row];
        if (relation.is_true(change.row) || entry.support == 0) continue;
        entry.rank = UINT32_MAX;
        derivations_of(change.relation, change.row, [&](uint32_t rule, const Row* body) {
            entry.rank = std::min(entry.rank, rank_of(rule, body));
        });
        relation.set(change.row, true);
        relation.set_stamp(change.row, ++stamp_);
        queue_.push_back(change);
    }
}

void Model::process_queue(uint32_t c) {
    for (size_t i = 0; i < queue_.size(); ++i) trigger(queue_[i], c);
    queue_.clear();
}

// New derivations of the component's rules that use the changed atom.
void Model::trigger(Change change, uint32_t c) {
    const bool value = relations_[index(change.relation)].is_true(change.row);
    for (const auto [r, l] : ledgers_[index(change.relation)].occurrences) {
        const RuleData& rule = rules_[r];
        if (rule.component == c && rule.query.body[l].negated != value && rule.is_open &&
            !rule.was_opened)
            trigger_literal(change, r, l);
    }
}

void Model::trigger_literal(Change change, uint32_t r, uint32_t l) {
    const RuleData& rule = rules_[r];
    matches_.clear();
    const size_t count =
        joiner_.run_triggered(relations_, rule.query, rule.triggered[l], change.row, matches_);
    const size_t width = rule.query.body.size() + rule.query.variable_count;
    for (size_t i = 0; i < count; ++i) insert(r, matches_.data() + i * width);
}

void Model::settle(uint32_t c) {
    Work& work = work_[c];
    for (size_t i = 0; i < work.touched.size(); ++i) {
        const Change change = work.touched[i];
        Relation& relation = relations_[index(change.relation)];
        Ledger::Entry& entry = ledgers_[index(change.relation)].entries[change.row];
        entry.touched = false;
        const bool value = entry.support > 0;
        if (relation.is_true(change.row) != value) relation.set(change.row, value);
        if (value != entry.before) announce(change);
    }
    work.touched.clear();
}

}  // namespace planlog
