#include "datalog/materialization.hpp"

#include <algorithm>

namespace planlog {

namespace {

void fill(const std::vector<Term>& terms, const ObjectId* binding, ObjectId* values) {
    for (size_t i = 0; i < terms.size(); ++i) values[i] = terms[i].under(binding);
}

}  // namespace

Materialization::Materialization(const Task& task, AtomTable& atoms, Program program)
    : task_(&task),
      atoms_(&atoms),
      program_(std::move(program)),
      compiled_(std::make_shared<CompiledProgram>(task, program_)),
      rules_(compiled_->rules),
      dependencies_(compiled_->relations),
      numbers_(compiled_->numbers),
      plans_(*compiled_),
      derivations_(*compiled_),
      gates_(rules_.size()),
      work_(compiled_->components.size()),
      has_work_(compiled_->components.size() / 64 + 1) {
    const auto object_count = static_cast<uint32_t>(task.objects.size());
    for (const RelationInfo& info : program_.relations()) {
        relations_.emplace_back(info.arity, object_count, info.numbers);
        least_values_.emplace_back();
        if (info.least) least_values_.back().emplace(info);
    }
    for (const Aggregate& aggregate : program_.aggregates()) group_values_.emplace_back(aggregate);
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
    candidates_.clear();
    for (size_t i = 0; i < relations_.size(); ++i) {
        if (is_static(RelationId(i))) continue;
        relations_[i].clear();
        if (least_values_[i]) least_values_[i]->clear();
        if (program_.relations()[i].source == Source::Aggregate)
            group_values_[program_.relations()[i].id].clear();
    }
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
        const Component& component = compiled_->components[c];
        if (is_static_done_ && is_static(component.relations.front())) continue;
        if (component.aggregate) evaluate_aggregate(c);
        if (component.rules.empty()) continue;
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
    if (compiled_->components[c].least)
        settle_least_values(c);
    else
        process_queue(c);
}

NumberError Materialization::in_rule(uint32_t r, const NumberError& error) const {
    const Rule& rule = program_.rules()[r];
    if (rule.text.empty()) return error;
    return NumberError(rule.place + ": error: " + error.what() + "\n  " + rule.text);
}

void Materialization::evaluate_rule(uint32_t r) {
    gates_[r].is_evaluated = true;
    matches_.clear();
    try {
        add_derivations(r, executor_.run(relations_, numbers_, rules_[r].query, plans_.full(r),
                                         nullptr, matches_));
    } catch (const NumberError& error) {
        throw in_rule(r, error);
    }
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
    ObjectId values[max_arity];
    fill(rule.head_terms, match + rule.query.body.size(), values);
    if (rule.is_least) return add_candidate(r, values, match);
    const AtomRef head{rule.head, intern(rule.head, values)};
    const Row* rows = insert_derivation(r, head, match);
    if (rule.is_recursive) {
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

const Row* Materialization::insert_derivation(uint32_t r, AtomRef head, Row* match) {
    const std::vector<BodyLiteral>& body = rules_[r].query.body;
    ObjectId values[max_arity];
    // The atom of a negated literal is false, but it has a row, on whose list the derivation is.
    for (uint32_t l : rules_[r].negated) {
        fill(body[l].terms, match + body.size(), values);
        match[l] = intern(body[l].relation, values);
    }
    if (is_tracking_ && !is_evaluating_) rederived_.push_back(head);
    return derivations_.insert(r, head.row, match);
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
    try {
        add_derivations(r, executor_.run_triggered(relations_, numbers_, rules_[r].query,
                                                   plans_.triggered(r, l), atom.row, matches_));
    } catch (const NumberError& error) {
        throw in_rule(r, error);
    }
}

// --- Aggregates ----------------------------------------------------------------

void Materialization::evaluate_aggregate(uint32_t c) {
    const Component& component = compiled_->components[c];
    const Aggregate& aggregate = program_.aggregates()[*component.aggregate];
    GroupValues& values = group_values_[*component.aggregate];
    const Relation& elements = relation(aggregate.elements);
    for (const Row row : elements.true_rows())
        values.set_element(row, elements.values(row), true, numbers_);
    if (aggregate.groups) {
        const Relation& groups = relation(*aggregate.groups);
        for (const Row row : groups.true_rows()) values.set_group(row, groups.values(row), true);
    }
    settle_aggregate(component.relations.front(), values);
}

void Materialization::update_aggregate(uint32_t c) {
    const Component& component = compiled_->components[c];
    const Aggregate& aggregate = program_.aggregates()[*component.aggregate];
    GroupValues& values = group_values_[*component.aggregate];
    for (const AtomRef atom : work_[c].changes) {
        steps_.step();
        const uint32_t* row = relation(atom.relation).values(atom.row);
        if (atom.relation == aggregate.elements)
            values.set_element(atom.row, row, is_true(atom), numbers_);
        if (atom.relation == aggregate.groups) values.set_group(atom.row, row, is_true(atom));
    }
    work_[c].changes.clear();
    settle_aggregate(component.relations.front(), values);
}

void Materialization::settle_aggregate(RelationId result, GroupValues& values) {
    const uint32_t size = relation(result).arity() - 1;
    const bool has_objects = values.has_objects();
    values.settle([&](const uint32_t* key, Row before, std::optional<int64_t> value) {
        steps_.step();
        if (before != no_row) set_input(result, before, false);
        if (!value) return no_row;
        uint32_t row[max_arity];
        std::copy_n(key, size, row);
        row[size] = has_objects ? static_cast<ObjectId>(*value) : numbers_.intern(*value);
        const Row now = intern(result, row);
        set_input(result, now, true);
        return now;
    });
}

}  // namespace planlog
