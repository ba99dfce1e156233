// Least values: see materialization.hpp for the algorithm.
#include "datalog/least_values.hpp"

#include <algorithm>

#include "datalog/materialization.hpp"

namespace planlog {

namespace {

ColumnMask key_of(const RelationInfo& info) {
    const auto all = static_cast<ColumnMask>((uint64_t{1} << info.arity) - 1);
    return all & ~(ColumnMask{1} << *info.least);
}

}  // namespace

LeastValues::LeastValues(const RelationInfo& info, Relation& relation, uint32_t object_count)
    : column_(*info.least),
      arity_(info.arity),
      index_(relation.index_on(key_of(info))),
      candidates_(key_of(info), info.arity, object_count, info.numbers) {}

void LeastValues::copy_key(const uint32_t* values, uint32_t* key) const {
    std::copy_n(values, column_, key);
    std::copy(values + column_ + 1, values + arity_, key + column_);
}

Row LeastValues::true_row(const Relation& relation, Row row) const {
    uint32_t key[max_arity];
    copy_key(relation.values(row), key);
    return relation.first(index_, key);
}

Row LeastValues::best(const Relation& relation, Row row, const NumberTable& numbers) const {
    uint32_t key[max_arity];
    copy_key(relation.values(row), key);
    Row best = no_row;
    for (Row other = candidates_.first(key, relation.values(0)); other != no_row;
         other = candidates_.next(other))
        if (best == no_row || value(relation, other, numbers) < value(relation, best, numbers))
            best = other;
    return best;
}

// --- Materialization -----------------------------------------------------------

int64_t Materialization::least_value(AtomRef atom) const {
    return least_values_[index(atom.relation)]->value(relation(atom.relation), atom.row, numbers_);
}

// Makes a row with a new derivation a candidate.
void Materialization::offer(uint32_t r, AtomRef head, const Row* body) {
    const CompiledRule& rule = rules_[r];
    const int64_t value = least_value(head);
    for (const uint32_t l : rule.own) {
        const int64_t other = least_value({rule.query.body[l].relation, body[l]});
        if (other <= value) continue;
        throw NumberError("the least value " + std::to_string(value) +
                          " is smaller than the value " + std::to_string(other) +
                          " that it comes from");
    }
    if (derivations_.support(head).count == 1)
        least_values_[index(head.relation)]->insert(relation(head.relation), head.row);
    if (!is_true(head)) push_candidate({value, head});
}

void Materialization::push_candidate(Candidate candidate) {
    candidates_.push_back(candidate);
    std::push_heap(candidates_.begin(), candidates_.end());
}

// Offers the best row in place of one that is no longer true.
void Materialization::push_best(AtomRef lost) {
    const LeastValues& values = *least_values_[index(lost.relation)];
    const Row best = values.best(relation(lost.relation), lost.row, numbers_);
    if (best == no_row) return;
    const AtomRef atom{lost.relation, best};
    push_candidate({least_value(atom), atom});
}

// Takes the candidates in the order of their numbers, as Dijkstra's algorithm does.
void Materialization::settle_least_values(uint32_t c) {
    while (!candidates_.empty()) {
        steps_.step();
        std::pop_heap(candidates_.begin(), candidates_.end());
        const auto [value, atom] = candidates_.back();
        candidates_.pop_back();
        Relation& own = relations_[index(atom.relation)];
        const Row before = least_values_[index(atom.relation)]->true_row(own, atom.row);
        if (derivations_.support(atom).count == 0) {  // lost after it was offered
            if (before == no_row) push_best(atom);
            continue;
        }
        const AtomRef old{atom.relation, before};
        if (before != no_row) {
            if (least_value(old) <= value) continue;
            touch(old);
            own.set(before, false);
        }
        touch(atom);
        own.set(atom.row, true);
        derivations_.support(atom).rank = rank_from_derivations(atom);
        set_stamp(atom);
        trigger(atom, c);
        if (before == no_row) continue;
        end_uses(old, true, c);
        retract_unfounded(c);
    }
}

}  // namespace planlog
