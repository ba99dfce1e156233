#include "pddl/conditions.hpp"

#include <algorithm>

namespace planlog {

namespace {

using Kind = Condition::Kind;

Condition truth(bool value) { return {value ? Kind::And : Kind::Or}; }

bool is_truth(const Condition& condition, bool value) {
    return condition.kind == (value ? Kind::And : Kind::Or) && condition.children.empty();
}

// The conjunction or disjunction of the parts, without nesting and constants.
Condition combine(Kind kind, std::vector<Condition> parts) {
    Condition result{kind};
    for (Condition& part : parts) {
        if (is_truth(part, kind == Kind::Or)) return part;
        if (part.kind == kind)
            std::move(part.children.begin(), part.children.end(),
                      std::back_inserter(result.children));
        else
            result.children.push_back(std::move(part));
    }
    if (result.children.size() != 1) return result;
    Condition only = std::move(result.children[0]);
    return only;
}

Condition read_equality(Context& context, Scope& scope, Expr expr, bool negated) {
    const std::vector<Expr> members = expr.members();
    if (!context.has_form(expr, 3, "(= TERM TERM)")) return truth(true);
    const auto left = context.read_term(members[1], scope);
    const auto right = context.read_term(members[2], scope);
    if (!left || !right) return truth(true);
    if (*left == *right) return truth(!negated);
    if (!left->is_variable && !right->is_variable) return truth(negated);
    return {Kind::Literal, {LiteralKind::Equality, negated, PredicateId{}, {*left, *right}}};
}

Condition read_quantifier(Context& context, Scope& scope, Expr expr, bool negated) {
    const bool forall = expr.head() == "forall";
    const std::string form = "(" + std::string(expr.head()) + " (VARIABLES) CONDITION)";
    if (!context.has_form(expr, 3, form)) return truth(true);
    const std::vector<Expr> members = expr.members();
    if (!members[1].is_list()) {
        context.error(members[1], "expected '" + form + "', found " + describe(members[1]));
        return truth(true);
    }
    Condition result{forall == negated ? Kind::Exists : Kind::NotExists};
    result.variables = scope.open(context.read_parameters(members[1].first(), members[1].end()));
    // Of `forall` the negation is read: there is no value for which it does not hold.
    result.children.push_back(read_condition(context, scope, members[2], forall));
    scope.close(result.variables);
    return is_truth(result.children[0], false) ? truth(result.kind == Kind::NotExists) : result;
}

// The variables of a condition, and the number of all its parts.
size_t collect_variables(const Condition& condition, std::vector<uint32_t>& occurring,
                         std::vector<uint32_t>& bound) {
    size_t size = 1 + condition.literal.terms.size() + condition.variables.size();
    for (const Term term : condition.literal.terms)
        if (term.is_variable) occurring.push_back(term.value);
    bound.insert(bound.end(), condition.variables.begin(), condition.variables.end());
    for (const Condition& child : condition.children)
        size += collect_variables(child, occurring, bound);
    return size;
}

void sort_unique(std::vector<uint32_t>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

Condition read_condition(Context& context, Scope& scope, Expr expr, bool negated) {
    const std::string_view head = expr.head();
    if (expr.is_list() && expr.first() == expr.end()) return truth(!negated);
    if (head == "and" || head == "or" || head == "imply") {
        const bool implication = head == "imply";
        if (implication && !context.has_form(expr, 3, "(imply CONDITION CONDITION)"))
            return truth(true);
        std::vector<Condition> parts;
        for (const Expr part : expr.arguments()) {
            if (context.report.full()) break;
            const bool premise = implication && parts.empty();
            parts.push_back(read_condition(context, scope, part, negated != premise));
        }
        return combine((head == "and") != negated ? Kind::And : Kind::Or, std::move(parts));
    }
    if (head == "not") {
        if (!context.has_form(expr, 2, "(not CONDITION)")) return truth(true);
        return read_condition(context, scope, expr.first().next(), !negated);
    }
    if (head == "exists" || head == "forall") return read_quantifier(context, scope, expr, negated);
    if (head == "=") return read_equality(context, scope, expr, negated);
    std::optional<Literal> literal = context.read_atom(expr, scope);
    if (!literal) return truth(true);
    literal->negated = negated;
    return {Kind::Literal, std::move(*literal)};
}

std::vector<Literal> ConditionCompiler::literals(const Condition& condition, const Scope& scope,
                                                 const std::string& owner) {
    scope_ = &scope;
    owner_ = owner;
    std::vector<Literal> result;
    append(condition, result, nullptr);
    return result;
}

Literal ConditionCompiler::literal(const Condition& condition, const Scope& scope,
                                   const std::string& owner) {
    scope_ = &scope;
    owner_ = owner;
    return auxiliary(condition);
}

void ConditionCompiler::define(PredicateId head, const std::vector<uint32_t>& head_variables,
                               const Condition& condition, const Scope& scope,
                               const std::string& owner) {
    scope_ = &scope;
    owner_ = owner;
    add_axioms(head, head_variables.size(), head_variables, condition);
}

bool ConditionCompiler::charge(size_t amount) {
    constexpr size_t limit = 4'000'000;
    copied_ = std::min(limit + 1, copied_ + amount);
    return copied_ <= limit;
}

// The first `arity` of the variables are the head's.
void ConditionCompiler::add_axioms(PredicateId head, size_t arity, std::vector<uint32_t> variables,
                                   const Condition& condition) {
    if (condition.kind == Kind::Or) {
        for (const Condition& child : condition.children)
            if (charge(variables.size())) add_axioms(head, arity, variables, child);
        return;
    }
    if (condition.kind == Kind::Exists) {
        variables.insert(variables.end(), condition.variables.begin(), condition.variables.end());
        return add_axioms(head, arity, std::move(variables), condition.children[0]);
    }
    Axiom axiom{head, {}, {}, {}};
    append(condition, axiom.body, &variables);
    std::unordered_map<uint32_t, uint32_t> local;
    for (const uint32_t variable : variables) {
        local.emplace(variable, static_cast<uint32_t>(local.size()));
        axiom.variables.push_back(scope_->variables()[variable]);
    }
    for (uint32_t i = 0; i < arity; ++i) axiom.terms.push_back(Term::variable(i));
    for (Literal& literal : axiom.body)
        for (Term& term : literal.terms)
            if (term.is_variable) term.value = local.at(term.value);
    axioms_.push_back(std::move(axiom));
}

// Adds literals for the condition. In the body of an axiom, `variables` takes those of an
// `exists`, which then needs no predicate of its own.
void ConditionCompiler::append(const Condition& condition, std::vector<Literal>& body,
                               std::vector<uint32_t>* variables) {
    if (condition.kind == Kind::Literal) {
        body.push_back(condition.literal);
    } else if (condition.kind == Kind::And || (condition.kind == Kind::Exists && variables)) {
        if (variables)
            variables->insert(variables->end(), condition.variables.begin(),
                              condition.variables.end());
        for (const Condition& child : condition.children) append(child, body, variables);
    } else {
        body.push_back(auxiliary(condition));
    }
}

Literal ConditionCompiler::auxiliary(const Condition& condition) {
    const bool negated = condition.kind == Kind::NotExists;
    const char* kind = negated                       ? "forall"
                       : condition.kind == Kind::And ? "and"
                       : condition.kind == Kind::Or  ? "or"
                                                     : "exists";
    std::vector<uint32_t> occurring, bound, variables;
    const size_t size = collect_variables(condition, occurring, bound);
    sort_unique(occurring);
    sort_unique(bound);
    std::set_difference(occurring.begin(), occurring.end(), bound.begin(), bound.end(),
                        std::back_inserter(variables));

    const auto id = static_cast<uint32_t>(first_id_ + predicates_.size());
    Literal literal{LiteralKind::Atom, negated, PredicateId{id}, {}};
    Predicate predicate;
    // No name that a user declares contains '|'.
    predicate.name = owner_ + "|" + kind + std::to_string(id);
    predicate.kind = PredicateKind::Auxiliary;
    predicate.trusted.assign(variables.size(), true);
    for (const uint32_t variable : variables) {
        predicate.parameters.push_back(scope_->variables()[variable]);
        literal.terms.push_back(Term::variable(variable));
    }
    predicates_.push_back(std::move(predicate));

    const size_t arity = variables.size();
    // The false condition holds only if it holds, so that it has an axiom as others do.
    if (is_truth(condition, false)) axioms_.push_back({literal.predicate, {}, {}, {literal}});
    if (negated)
        variables.insert(variables.end(), condition.variables.begin(), condition.variables.end());
    if (charge(size))
        add_axioms(literal.predicate, arity, std::move(variables),
                   negated ? condition.children[0] : condition);
    return literal;
}

}  // namespace planlog
