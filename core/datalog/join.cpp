#include "datalog/join.hpp"

#include <algorithm>

namespace planlog {

// --- JoinPlanner -------------------------------------------------------------

JoinPlanner::JoinPlanner(std::vector<Relation>& relations)
    : relations_(relations), distinct_(relations.size()) {}

// The expected number of rows with a given key in the bound columns, if columns are independent.
double JoinPlanner::expected_rows(uint32_t number, ColumnMask bound) {
    const Relation& relation = relations_[number];
    auto& distinct = distinct_[number];
    distinct.resize(relation.arity());
    const auto size = static_cast<double>(relation.size());
    double keys = 1;
    for (uint32_t column = 0; column < relation.arity(); ++column) {
        if (!(bound >> column & 1)) continue;
        if (distinct[column] == 0)
            distinct[column] = std::max<size_t>(1, relation.distinct(column));
        keys *= static_cast<double>(distinct[column]);
    }
    return size / std::max(1.0, std::min(keys, size));
}

JoinPlan JoinPlanner::plan(const Query& query, std::optional<uint32_t> trigger) {
    JoinPlan plan;
    plan.trigger = trigger;
    std::vector<bool> bound(query.variable_count);
    std::fill_n(bound.begin(), query.bound_count, true);
    std::vector<bool> literal_done(query.body.size());
    std::vector<bool> comparison_done(query.comparisons.size());
    std::vector<bool> constraint_done(query.constraints.size());

    const auto is_bound = [&](Term term) { return !term.is_variable || bound[term.value]; };
    const auto bound_columns = [&](const BodyLiteral& literal) {
        ColumnMask mask = 0;
        for (uint32_t column = 0; column < literal.terms.size(); ++column)
            if (is_bound(literal.terms[column])) mask |= ColumnMask{1} << column;
        return mask;
    };
    const auto add_step = [&](JoinStep::Kind kind, uint32_t literal) -> JoinStep& {
        literal_done[literal] = true;
        JoinStep& step = plan.steps.emplace_back();
        step.kind = kind;
        step.literal = literal;
        step.relation = index(query.body[literal].relation);
        return step;
    };
    // Checks constraints, and binds variables by equations, which may bind others in turn.
    const auto add_constraints = [&] {
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t i = 0; i < query.constraints.size(); ++i) {
                const Constraint& constraint = query.constraints[i];
                const auto variable = constraint.assigned(bound);
                const bool is_check =
                    constraint.left.is_bound(bound) && constraint.right.is_bound(bound);
                if (constraint_done[i] || !(variable || is_check)) continue;
                constraint_done[i] = changed = true;
                JoinStep& step = plan.steps.emplace_back();
                step.kind = is_check ? JoinStep::Kind::Check : JoinStep::Kind::Assign;
                step.constraint = i;
                if (variable) bound[step.variable = *variable] = true;
            }
        }
    };
    const auto add_filters = [&] {
        add_constraints();
        for (size_t i = 0; i < query.comparisons.size(); ++i) {
            const Comparison& comparison = query.comparisons[i];
            if (comparison_done[i] || !is_bound(comparison.left) || !is_bound(comparison.right))
                continue;
            comparison_done[i] = true;
            JoinStep& step = plan.steps.emplace_back();
            step.kind = JoinStep::Kind::Compare;
            step.equal = comparison.equal;
            step.key = {comparison.left, comparison.right};
        }
        for (uint32_t i = 0; i < query.body.size(); ++i) {
            const BodyLiteral& literal = query.body[i];
            if (literal_done[i] ||
                !std::all_of(literal.terms.begin(), literal.terms.end(), is_bound))
                continue;
            using Kind = JoinStep::Kind;
            add_step(literal.negated ? Kind::Absent : Kind::Member, i).key = literal.terms;
        }
    };

    if (trigger) {
        literal_done[*trigger] = true;
        for (Term term : query.body[*trigger].terms)
            if (term.is_variable) bound[term.value] = true;
    }
    add_filters();
    for (;;) {
        interruption_point();
        std::optional<uint32_t> best;
        double best_rows = 0;
        for (uint32_t i = 0; i < query.body.size(); ++i) {
            const BodyLiteral& literal = query.body[i];
            if (literal_done[i] || literal.negated) continue;
            const double rows = expected_rows(index(literal.relation), bound_columns(literal));
            if (!best || rows < best_rows) best = i, best_rows = rows;
        }
        if (!best) break;
        const BodyLiteral& literal = query.body[*best];
        JoinStep& step = add_step(JoinStep::Kind::Lookup, *best);
        const ColumnMask mask = bound_columns(literal);
        step.index = relations_[step.relation].index_on(mask);
        for (uint32_t column = 0; column < literal.terms.size(); ++column) {
            const Term term = literal.terms[column];
            if (mask >> column & 1) {
                step.key.push_back(term);
            } else if (bound[term.value]) {
                step.repeat.push_back({column, term.value});
            } else {
                bound[term.value] = true;
                step.bind.push_back({column, term.value});
            }
        }
        add_filters();
    }
    return plan;
}

// --- JoinExecutor -------------------------------------------------------------

void JoinExecutor::prepare(const std::vector<Relation>& relations, NumberTable& numbers,
                           const Query& query, const JoinPlan& plan,
                           std::vector<uint32_t>& matches) {
    relations_ = &relations;
    numbers_ = &numbers;
    query_ = &query;
    plan_ = &plan;
    matches_ = &matches;
    match_count_ = 0;
    binding_.resize(query.variable_count);
    rows_.assign(query.body.size(), no_row);
}

size_t JoinExecutor::run(const std::vector<Relation>& relations, NumberTable& numbers,
                         const Query& query, const JoinPlan& plan, const ObjectId* bound,
                         std::vector<uint32_t>& matches) {
    prepare(relations, numbers, query, plan, matches);
    std::copy_n(bound, query.bound_count, binding_.begin());
    limit_ = UINT64_MAX;
    search(0);
    return match_count_;
}

size_t JoinExecutor::run_triggered(const std::vector<Relation>& relations, NumberTable& numbers,
                                   const Query& query, const JoinPlan& plan, Row row,
                                   std::vector<uint32_t>& matches) {
    const BodyLiteral& literal = query.body[*plan.trigger];
    const Relation& relation = relations[index(literal.relation)];
    prepare(relations, numbers, query, plan, matches);
    trigger_ = *plan.trigger;
    limit_ = relation.stamp(row);
    const ObjectId* values = relation.values(row);
    // A variable that occurs twice keeps the value of its last column; all columns are compared.
    for (size_t column = 0; column < literal.terms.size(); ++column)
        if (literal.terms[column].is_variable)
            binding_[literal.terms[column].value] = values[column];
    for (size_t column = 0; column < literal.terms.size(); ++column)
        if (value(literal.terms[column]) != values[column]) return 0;
    if (!literal.negated) rows_[trigger_] = row;
    search(0);
    return match_count_;
}

bool JoinExecutor::is_visible(const Relation& relation, Row row, uint32_t literal) const {
    const uint64_t stamp = relation.stamp(row);
    return stamp < limit_ || (stamp == limit_ && literal > trigger_);
}

// Returns whether the binding satisfies a step that binds no variable.
bool JoinExecutor::passes(const JoinStep& step, const ObjectId* key) {
    if (step.kind == JoinStep::Kind::Compare) return (key[0] == key[1]) == step.equal;
    if (step.kind == JoinStep::Kind::Check)
        return query_->constraints[step.constraint].holds(binding_.data(), *numbers_);
    if (step.kind == JoinStep::Kind::Assign) return assign(step), true;
    const Relation& relation = (*relations_)[step.relation];
    const Row row = relation.find(key);
    if (step.kind == JoinStep::Kind::Absent)
        return row == no_row || (!relation.is_true(row) && is_visible(relation, row, step.literal));
    rows_[step.literal] = row;
    return row != no_row && relation.is_true(row) && is_visible(relation, row, step.literal);
}

void JoinExecutor::assign(const JoinStep& step) {
    const Constraint& equation = query_->constraints[step.constraint];
    const bool is_left = equation.left.variable() == step.variable;
    const Expression& value = is_left ? equation.right : equation.left;
    binding_[step.variable] = numbers_->intern(value.value(binding_.data(), *numbers_));
}

// Recurses only where variables are bound, so no deeper than there are variables.
void JoinExecutor::search(size_t number) {
    ObjectId key[max_arity];
    for (; number < plan_->steps.size(); ++number) {
        const JoinStep& step = plan_->steps[number];
        for (size_t i = 0; i < step.key.size(); ++i) key[i] = value(step.key[i]);
        if (step.kind == JoinStep::Kind::Lookup) break;
        if (!passes(step, key)) return;
    }
    if (number == plan_->steps.size()) {
        matches_->insert(matches_->end(), rows_.begin(), rows_.end());
        matches_->insert(matches_->end(), binding_.begin(), binding_.end());
        ++match_count_;
        return;
    }
    const JoinStep& step = plan_->steps[number];
    const Relation& relation = (*relations_)[step.relation];
    const Index& index = relation.index(step.index);
    for (Row row = relation.first(step.index, key); row != no_row; row = index.next(row)) {
        visited_.step();
        if (!is_visible(relation, row, step.literal)) continue;
        const ObjectId* values = relation.values(row);
        for (const auto& [column, variable] : step.bind) binding_[variable] = values[column];
        bool equal = true;
        for (const auto& [column, variable] : step.repeat)
            equal = equal && binding_[variable] == values[column];
        if (!equal) continue;
        rows_[step.literal] = row;
        search(number + 1);
    }
}

}  // namespace planlog
