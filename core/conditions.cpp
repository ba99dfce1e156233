#include "conditions.hpp"

#include <algorithm>

namespace planlog {

namespace {

using Kind = Condition::Kind;

Condition truth(bool value) {
    Condition condition;
    condition.kind = value ? Kind::And : Kind::Or;
    return condition;
}

// The conjunction or disjunction of the parts, without nesting and constants.
Condition combine(Kind kind, std::vector<Condition> parts) {
    Condition result;
    result.kind = kind;
    for (Condition& part : parts) {
        const bool absorbing = kind == Kind::And ? part.is_false() : part.is_true();
        if (absorbing) return truth(kind == Kind::Or);
        if (part.kind == kind)
            std::move(part.children.begin(), part.children.end(),
                      std::back_inserter(result.children));
        else
            result.children.push_back(std::move(part));
    }
    if (result.children.size() == 1) {
        Condition only = std::move(result.children[0]);
        return only;
    }
    return result;
}

Condition read_equality(Context& context, Scope& scope, Expr expr, bool negated) {
    const std::vector<Expr> members = expr.members();
    for (const Expr member : members) {
        const bool number = !scope.visible().contains(member.text()) &&
                            !context.object_ids.contains(member.text()) &&
                            parse_number(member.text());
        if (member.is_list() || number) {
            context.unsupported(expr, "numeric conditions and functions in '=' are");
            return truth(true);
        }
    }
    if (members.size() != 3) {
        context.error(expr, "'=' takes 2 arguments, found " + std::to_string(members.size() - 1));
        return truth(true);
    }
    const auto left = context.read_term(members[1], scope);
    const auto right = context.read_term(members[2], scope);
    if (!left || !right) return truth(true);
    if (*left == *right) return truth(!negated);
    if (!left->is_variable && !right->is_variable) return truth(negated);
    Condition condition;
    condition.kind = Kind::Literal;
    condition.literal = {LiteralKind::Equality, negated, PredicateId{}, {*left, *right}};
    return condition;
}

Condition read_quantifier(Context& context, Scope& scope, Expr expr, bool negated) {
    const std::vector<Expr> members = expr.members();
    if (members.size() != 3) {
        context.error(expr, "expected '(" + std::string(expr.head()) +
                                " (VARIABLES) CONDITION)', found " +
                                count_of(members.size() - 1, "part"));
        return truth(true);
    }
    const bool forall = expr.head() == "forall";
    Condition condition;
    condition.kind = forall == negated ? Kind::Exists : Kind::NotExists;
    condition.variables = scope.open(context.read_parameter_list(members[1]));
    // Of `forall` the negation is read: there is no value for which it does not hold.
    Condition child = read_condition(context, scope, members[2], forall);
    scope.close(condition.variables);
    if (child.is_false()) return truth(condition.kind == Kind::NotExists);
    condition.children.push_back(std::move(child));
    return condition;
}

// Operators of PDDL that Planlog does not have, and how to call them.
const char* unsupported_condition(std::string_view head) {
    static constexpr std::string_view comparisons[] = {"<", ">", "<=", ">="};
    static constexpr std::string_view trajectories[] = {
        "always", "sometime", "within", "at-most-once", "sometime-after", "sometime-before",
        "always-within", "hold-during", "hold-after", "at-end"};
    const auto among = [&](const auto& names) {
        return std::find(std::begin(names), std::end(names), head) != std::end(names);
    };
    if (among(comparisons)) return "numeric conditions are";
    if (among(trajectories)) return "trajectory constraints are";
    if (head == "preference") return "preferences are";
    if (head == "over") return "durative conditions are";
    return nullptr;
}

void collect_variables(const Condition& condition, std::vector<uint32_t>& occurring,
                       std::vector<uint32_t>& bound, size_t& size) {
    size += 1 + condition.literal.terms.size() + condition.variables.size();
    for (const Term term : condition.literal.terms)
        if (term.is_variable) occurring.push_back(term.value);
    bound.insert(bound.end(), condition.variables.begin(), condition.variables.end());
    for (const Condition& child : condition.children)
        collect_variables(child, occurring, bound, size);
}

void sort_unique(std::vector<uint32_t>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

Condition read_condition(Context& context, Scope& scope, Expr expr, bool negated) {
    if (!expr.is_list()) {
        context.error(expr, "expected a condition in parentheses, found " + describe(expr));
        return truth(true);
    }
    if (expr.first() == expr.end()) return truth(!negated);
    const std::string_view head = expr.head();
    const std::vector<Expr> members = expr.members();
    if (head == "and" || head == "or" || head == "imply") {
        if (head == "imply" && members.size() != 3) {
            context.error(expr, "'imply' takes 2 conditions, found " +
                                    std::to_string(members.size() - 1));
            return truth(true);
        }
        std::vector<Condition> parts;
        for (size_t i = 1; i < members.size() && !context.report.full(); ++i) {
            const bool premise = head == "imply" && i == 1;
            parts.push_back(read_condition(context, scope, members[i], negated != premise));
        }
        return combine((head == "and") != negated ? Kind::And : Kind::Or, std::move(parts));
    }
    if (head == "not") {
        if (members.size() == 2) return read_condition(context, scope, members[1], !negated);
        context.error(expr,
                      "'not' takes one condition, found " + std::to_string(members.size() - 1));
        return truth(true);
    }
    if (head == "exists" || head == "forall") return read_quantifier(context, scope, expr, negated);
    if (head == "=") return read_equality(context, scope, expr, negated);
    if (!context.predicates.contains(head)) {
        if (const char* feature = unsupported_condition(head)) {
            context.unsupported(expr, feature);
            return truth(true);
        }
    }
    std::optional<Literal> literal = context.read_atom(expr, scope);
    if (!literal) return truth(true);
    literal->negated = negated;
    Condition condition;
    condition.kind = Kind::Literal;
    condition.literal = std::move(*literal);
    return condition;
}

std::vector<Literal> ConditionCompiler::literals(const Condition& condition, const Scope& scope,
                                                 const std::string& owner) {
    scope_ = &scope;
    owner_ = owner;
    std::vector<Literal> result;
    append(condition, result, nullptr);
    return result;
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
        add_axioms(head, arity, std::move(variables), condition.children[0]);
        return;
    }
    Axiom axiom;
    axiom.head = head;
    append(condition, axiom.body, &variables);
    std::unordered_map<uint32_t, uint32_t> local;
    for (const uint32_t variable : variables) {
        local.emplace(variable, static_cast<uint32_t>(local.size()));
        axiom.variables.push_back(scope_->variables()[variable]);
    }
    for (size_t i = 0; i < arity; ++i)
        axiom.terms.push_back(Term::variable(static_cast<uint32_t>(i)));
    for (Literal& literal : axiom.body)
        for (Term& term : literal.terms)
            if (term.is_variable) term.value = local.at(term.value);
    axioms_.push_back(std::move(axiom));
}

// Adds literals for the condition. In the body of an axiom, `variables` takes those of an
// `exists`, which then needs no predicate of its own.
void ConditionCompiler::append(const Condition& condition, std::vector<Literal>& body,
                               std::vector<uint32_t>* variables) {
    switch (condition.kind) {
        case Kind::Literal: body.push_back(condition.literal); break;
        case Kind::And:
            for (const Condition& child : condition.children) append(child, body, variables);
            break;
        case Kind::Exists:
            if (variables) {
                variables->insert(variables->end(), condition.variables.begin(),
                                  condition.variables.end());
                append(condition.children[0], body, variables);
                break;
            }
            [[fallthrough]];
        case Kind::Or:
        case Kind::NotExists: body.push_back(auxiliary(condition)); break;
    }
}

Literal ConditionCompiler::auxiliary(const Condition& condition) {
    std::vector<uint32_t> occurring, bound, free;
    size_t size = 0;
    collect_variables(condition, occurring, bound, size);
    sort_unique(occurring);
    sort_unique(bound);
    std::set_difference(occurring.begin(), occurring.end(), bound.begin(), bound.end(),
                        std::back_inserter(free));

    const char* kind = condition.kind == Kind::Or       ? "or"
                       : condition.kind == Kind::Exists ? "exists"
                                                        : "forall";
    Predicate predicate;
    // The colon keeps the name apart from all that a user can declare.
    predicate.name = owner_ + ":" + kind + std::to_string(++named_);
    predicate.kind = PredicateKind::Auxiliary;
    predicate.trusted.assign(free.size(), true);
    Literal literal;
    literal.negated = condition.kind == Kind::NotExists;
    literal.predicate = PredicateId{first_id_ + static_cast<uint32_t>(predicates_.size())};
    for (const uint32_t variable : free) {
        predicate.parameters.push_back(scope_->variables()[variable]);
        literal.terms.push_back(Term::variable(variable));
    }
    predicates_.push_back(std::move(predicate));
    if (!charge(size)) return literal;

    const size_t arity = free.size();
    const bool negation = condition.kind == Kind::NotExists;
    if (negation) free.insert(free.end(), condition.variables.begin(), condition.variables.end());
    add_axioms(literal.predicate, arity, std::move(free),
               negation ? condition.children[0] : condition);
    return literal;
}

}  // namespace planlog
