#include "datalog/materialization.hpp"

#include <algorithm>

namespace planlog {

Materialization::Materialization(const Task& task, AtomTable& atoms, Program program)
    : task_(&task),
      atoms_(&atoms),
      program_(std::move(program)),
      compiled_(std::make_shared<CompiledProgram>(task, program_)),
      rules_(compiled_->rules),
      dependencies_(compiled_->relations),
      plans_(*compiled_),
      derivations_(*compiled_),
      gates_(rules_.size()),
      work_(compiled_->components.size()),
      has_work_(compiled_->components.size() / 64 + 1) {
    for (const RelationInfo& info : program_.relations())
        relations_.emplace_back(info.arity, static_cast<uint32_t>(task.objects.size()));
    set_given_atoms(true);
    for (size_t i = 0; i < task.initial.size(); ++i) {
        steps_.step();
        const PredicateId predicate = task.initial.symbols[i];
        if (!task.domain->predicates[index(predicate)].fluent)
            change(predicate, row(predicate, task.initial.row(i)), true);
    }
}

// --- Atoms -------------------------------------------------------------------

Row Materialization::intern(RelationId id, const ObjectId* values) {
    const Row row = relations_[index(id)].intern(values);
    derivations_.add_row(id, row);
    return row;
}

void Materialization::set_input(RelationId id, Row row, bool value) {
    if (relation(id).is_true(row) == value) return;
    relations_[index(id)].set(row, value);
    if (!is_evaluating_) propagate({id, row});
}

void Materialization::change(PredicateId predicate, Row row, bool value) {
    set_input(state_relation(predicate), row, value);
    compiled_->set_statuses(predicate, state(predicate).values(row), value,
                            [&](RelationId id, const ObjectId* values, bool status) {
                                set_input(id, intern(id, values), status);
                            });
}

void Materialization::set_given_atoms(bool in_static_relations) {
    const auto& given = compiled_->given;
    for (size_t i = 0; i < given.size(); ++i) {
        steps_.step();
        if (const RelationId id = given.symbols[i]; is_static(id) == in_static_relations)
            set_input(id, intern(id, given.row(i)), true);
    }
}

bool Materialization::holds(const Literal& literal) const {
    if (literal.kind == LiteralKind::Equality)
        return (literal.terms[0] == literal.terms[1]) != literal.negated;
    return state(literal.predicate).holds(object_row(literal.terms).data()) != literal.negated;
}

// --- Evaluation from scratch -------------------------------------------------

void Materialization::clear_dynamic() {
    for (size_t i = 0; i < relations_.size(); ++i)
        if (!is_static(RelationId(i))) relations_[i].clear();
    derivations_.clear_dynamic();
    for (size_t r = 0; r < gates_.size(); ++r)
        if (!rules_[r].is_static) gates_[r] = {};
    for (Work& work : work_) work = {};
    std::fill(has_work_.begin(), has_work_.end(), 0);
}

void Materialization::evaluate(std::span<const AtomId> state) {
    is_evaluating_ = true;
    ++evaluations_;
    rederived_.clear();
    clear_dynamic();
    set_given_atoms(false);
    {
        const auto lock = atoms_->lock();
        for (AtomId atom : state) {
            const PredicateId predicate = atoms_->predicate(atom);
            change(predicate, row(predicate, atoms_->values(atom)), true);
        }
    }
    for (uint32_t c = 0; c < compiled_->components.size(); ++c) {
        const auto& rules = compiled_->components[c].rules;
        if (rules.empty() || (is_static_done_ && rules_[rules.front()].is_static)) continue;
        plans_.before_component(c, relations_);
        evaluate_component(c);
    }
    plans_.after_evaluation(relations_);
    is_static_done_ = true;
    is_evaluating_ = false;
}

void Materialization::evaluate_component(uint32_t c) {
    queue_.clear();
    for (uint32_t r : compiled_->components[c].rules) {
        const bool is_open = gates_hold(r);
        derivations_.set_active(r, is_open, [](Row) {});
        // A rule with literals of its own component is triggered by the atoms of these.
        if (is_open && rules_[r].own.empty()) evaluate_rule(r);
    }
    process_queue(c);
}

void Materialization::evaluate_rule(uint32_t r) {
    gates_[r].is_evaluated = true;
    matches_.clear();
    add_derivations(r,
                    executor_.run(relations_, rules_[r].query, plans_.full(r), nullptr, matches_));
}

void Materialization::add_derivations(uint32_t rule, size_t count) {
    const size_t width = rules_[rule].match_width();
    for (size_t i = 0; i < count; ++i) {
        steps_.step();
        add_derivation(rule, matches_.data() + i * width);
    }
}

// A match has the rows of the body, followed by the values of the variables.
void Materialization::add_derivation(uint32_t r, Row* match) {
    const CompiledRule& rule = rules_[r];
    const std::vector<BodyLiteral>& body = rule.query.body;
    const ObjectId* binding = match + body.size();
    ObjectId values[max_arity];
    const auto fill = [&](const std::vector<Term>& terms) {
        for (size_t i = 0; i < terms.size(); ++i) values[i] = terms[i].under(binding);
        return values;
    };
    const AtomRef head{rule.head, intern(rule.head, fill(rule.head_terms))};
    // The atom of a negated literal is false, but it has a row, on whose list the derivation is.
    for (uint32_t l : rule.negated) match[l] = intern(body[l].relation, fill(body[l].terms));
    const Row* rows = derivations_.insert(r, head.row, match);
    if (is_tracking_ && !is_evaluating_) rederived_.push_back(head);
    if (compiled_->components[rule.component].recursive) {
        if (is_true(head)) return;
        touch(head);
        derivations_.support(head).rank = rank_of(r, rows);
        relations_[index(head.relation)].set(head.row, true);
        set_stamp(head);
        queue_.push_back(head);
    } else if (is_evaluating_) {
        if (!is_true(head)) relations_[index(head.relation)].set(head.row, true);
    } else {
        touch(head);
    }
}

// One more than the largest rank among the atoms of the rule's own component.
uint32_t Materialization::rank_of(uint32_t r, const Row* body) const {
    const CompiledRule& rule = rules_[r];
    uint32_t rank = 0;
    for (uint32_t l : rule.own)
        rank =
            std::max(rank, derivations_.support({rule.query.body[l].relation, body[l]}).rank + 1);
    return rank;
}

// Semi-naive evaluation: the queue grows while its atoms trigger joins.
void Materialization::process_queue(uint32_t c) {
    for (size_t i = 0; i < queue_.size(); ++i) {
        steps_.step();
        trigger(queue_[i], c);
    }
    queue_.clear();
}

// Finds new derivations of the component's rules that use the changed atom.
void Materialization::trigger(AtomRef atom, uint32_t c) {
    const bool value = is_true(atom);
    for (const auto [r, l] : dependencies(atom.relation).occurrences) {
        const CompiledRule& rule = rules_[r];
        if (rule.component == c && rule.query.body[l].negated != value &&
            derivations_.is_active(r) && !gates_[r].was_opened)
            trigger_literal(atom, r, l);
    }
}

void Materialization::trigger_literal(AtomRef atom, uint32_t r, uint32_t l) {
    matches_.clear();
    add_derivations(r, executor_.run_triggered(relations_, rules_[r].query, plans_.triggered(r, l),
                                               atom.row, matches_));
}

}  // namespace planlog
