// Least values: see materialization.hpp for the algorithm.
#include "datalog/least_values.hpp"

#include <algorithm>

#include "datalog/materialization.hpp"

namespace planlog {

LeastValues::LeastValues(const RelationInfo& info)
    : column_(*info.least), key_size_(info.arity - 1) {}

LeastValues::Key LeastValues::key(const uint32_t* values) {
    uint32_t key[max_arity];
    std::copy_n(values, column_, key);
    std::copy(values + column_ + 1, values + key_size_ + 1, key + column_);
    const Key number = numbers_.find_or_add(hash_of(key, key_size_), [&](Key other) {
        const uint32_t* values = values_.data() + size_t{other} * key_size_;
        uint32_t difference = 0;  // cheaper than a call for so few values
        for (uint32_t i = 0; i < key_size_; ++i) difference |= key[i] ^ values[i];
        return difference == 0;
    });
    if (number == keys_.size()) {
        keys_.emplace_back();
        values_.insert(values_.end(), key, key + key_size_);
    }
    return number;
}

void LeastValues::insert(Key key, Row row) {
    if (row >= links_.size()) links_.resize(std::max<size_t>(row + 1, links_.size() * 2));
    Row& last = keys_[key].last;
    links_[row] = {key, last, no_row};
    if (last != no_row) links_[last].previous = row;
    last = row;
}

void LeastValues::erase(Row row) {
    const auto [key, next, previous] = links_[row];
    if (next != no_row) links_[next].previous = previous;
    (previous != no_row ? links_[previous].next : keys_[key].last) = next;
}

Row LeastValues::best(const Relation& relation, Key key, const NumberTable& numbers) const {
    const auto number = [&](Row row) { return value(relation.values(row), numbers); };
    Row best = no_row;
    for (Row row = keys_[key].last; row != no_row; row = links_[row].next)
        if (best == no_row || number(row) < number(best)) best = row;
    return best;
}

void LeastValues::clear() {
    numbers_.clear();
    values_.clear();
    keys_.clear();
    links_.clear();
}

// --- Materialization -----------------------------------------------------------

int64_t Materialization::least_value(AtomRef atom) const {
    return least_values(atom.relation).value(relation(atom.relation).values(atom.row), numbers_);
}

std::string Materialization::text(RelationId id, const uint32_t* values) const {
    const RelationInfo& info = program_.relations()[index(id)];
    std::string result = info.name + "(";
    for (uint32_t i = 0; i < info.arity; ++i) {
        if (i > 0) result += ", ";
        result += info.numbers >> i & 1 ? std::to_string(numbers_[values[i]])
                                        : task_->objects[values[i]].name;
    }
    return result + ")";
}

// Adds a derivation of an atom with these values, which becomes a candidate.
void Materialization::add_candidate(uint32_t r, const ObjectId* values, Row* match) {
    const CompiledRule& rule = rules_[r];
    LeastValues& least = least_values(rule.head);
    const int64_t value = least.value(values, numbers_);
    for (const uint32_t l : rule.own) {
        const AtomRef source{rule.query.body[l].relation, match[l]};
        if (least_value(source) <= value) continue;
        throw NumberError("the least value of " + text(rule.head, values) +
                          " is smaller than that of " +
                          text(source.relation, relation(source.relation).values(source.row)) +
                          ", which it comes from");
    }
    const LeastValues::Key key = least.key(values);
    AtomRef head{rule.head, least.last(key)};
    if (head.row == no_row || least_value(head) != value) {
        // Nothing takes the place of a static atom, so that its last candidate is the best one.
        if (rule.is_static && head.row != no_row && least_value(head) < value) return;
        head.row = intern(rule.head, values);
    }
    insert_derivation(r, head, match);
    if (derivations_.support(head).count > 1) return;
    least.insert(key, head.row);
    const Row before = least.true_row(key);
    if (before == no_row || value < least_value({rule.head, before})) candidates_.push(value, head);
}

// Offers the best row in place of one that is no longer true.
void Materialization::push_best(AtomRef lost) {
    const LeastValues& values = least_values(lost.relation);
    const Row best = values.best(relation(lost.relation), values.key(lost.row), numbers_);
    if (best == no_row) return;
    const AtomRef atom{lost.relation, best};
    candidates_.push(least_value(atom), atom);
}

void Materialization::set_least(AtomRef atom, bool value) {
    LeastValues& values = least_values(atom.relation);
    values.set_true_row(values.key(atom.row), value ? atom.row : no_row);
    relations_[index(atom.relation)].set(atom.row, value);
}

// Takes the candidates in the order of their numbers, as Dijkstra's algorithm does.
void Materialization::settle_least_values(uint32_t c) {
    uint32_t settled = 0;
    while (const auto candidate = candidates_.pop()) {
        steps_.step();
        const auto [value, atom] = *candidate;
        const LeastValues& values = least_values(atom.relation);
        const Row before = values.true_row(values.key(atom.row));
        if (derivations_.support(atom).count == 0) {  // lost after it was offered
            if (before == no_row) push_best(atom);
            continue;
        }
        const AtomRef old{atom.relation, before};
        if (before != no_row) {
            if (least_value(old) <= value) continue;
            touch(old);
            set_least(old, false);
        }
        touch(atom);
        set_least(atom, true);
        // In an evaluation, any rank after those of the body will do.
        derivations_.support(atom).rank = is_evaluating_ ? settled++ : rank_from_derivations(atom);
        set_stamp(atom);
        trigger(atom, c);
        if (before == no_row) continue;
        end_uses(old, true, c);
        retract_unfounded(c);
    }
}

}  // namespace planlog
