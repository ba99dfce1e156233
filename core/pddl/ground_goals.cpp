#include "pddl/ground_goals.hpp"

#include <algorithm>

namespace planlog {

namespace {

using Kind = Condition::Kind;

void append_conjuncts(Condition condition, std::vector<Condition>& parts) {
    // For all x, neither A nor B: for all x not A, and for all x not B.
    const bool is_forall =
        condition.kind == Kind::NotExists && condition.children[0].kind == Kind::Or;
    if (condition.kind != Kind::And && !is_forall) return parts.push_back(std::move(condition));
    for (Condition& child : is_forall ? condition.children[0].children : condition.children) {
        if (is_forall)
            child = Condition{Kind::NotExists, {}, condition.variables, {std::move(child)}};
        append_conjuncts(std::move(child), parts);
    }
}

void append_predicates(const Condition& condition, std::vector<PredicateId>& predicates) {
    if (condition.kind == Kind::Literal && condition.literal.kind == LiteralKind::Atom)
        predicates.push_back(condition.literal.predicate);
    for (const Condition& child : condition.children) append_predicates(child, predicates);
}

}  // namespace

std::vector<Condition> conjuncts(Condition condition) {
    std::vector<Condition> parts;
    append_conjuncts(std::move(condition), parts);
    return parts;
}

std::vector<PredicateId> predicates_of(const Condition& condition) {
    std::vector<PredicateId> predicates;
    append_predicates(condition, predicates);
    std::sort(predicates.begin(), predicates.end());
    predicates.erase(std::unique(predicates.begin(), predicates.end()), predicates.end());
    return predicates;
}

std::optional<std::vector<Literal>> GoalGrounder::literals(const Condition& condition,
                                                           const Scope& scope) {
    scope_ = &scope;
    binding_.assign(scope.variables().size(), 0);
    found_.clear();
    const Rest rest = ground(condition, false);
    if (rest != Rest::True && rest != Rest::Literals) return std::nullopt;
    literal_count_ += found_.size();
    return std::move(found_);
}

bool GoalGrounder::is_too_large() const {
    constexpr size_t most_literals = 1'000'000, most_steps = 4'000'000;
    return literal_count_ + found_.size() > most_literals || step_count_ > most_steps;
}

// Appends the literals that remain of the condition, or of its negation, to `found_`.
GoalGrounder::Rest GoalGrounder::ground(const Condition& condition, bool negated) {
    const size_t before = found_.size();
    Rest rest = condition.kind == Kind::Literal ? ground_literal(condition.literal, negated)
                                                : ground_members(condition, negated);
    if (is_too_large()) rest = Rest::Other;
    if (rest != Rest::Literals) found_.resize(before);
    return rest;
}

// A conjunction is false as soon as a member is, and members that are true do not matter. For a
// disjunction it is the other way round. Literals remain of it only if they remain of one member.
GoalGrounder::Rest GoalGrounder::ground_members(const Condition& condition, bool negated) {
    const bool is_forall = condition.kind == Kind::NotExists;
    const bool is_conjunction = (condition.kind == Kind::And || is_forall) != negated;
    const Rest neutral = is_conjunction ? Rest::True : Rest::False;
    const Rest decisive = is_conjunction ? Rest::False : Rest::True;
    Rest result = neutral;
    visit_members(condition, 0, [&](const Condition& member) {
        const Rest rest = ground(member, negated != is_forall);
        if (rest == decisive || result == neutral)
            result = rest;
        else if (rest != neutral && !(is_conjunction && rest == result))
            result = Rest::Other;
        return result != decisive;
    });
    return result;
}

// Visits the children of the condition, for all values of its variables from this one on, until
// visit(child) returns false.
template <class Visitor>
bool GoalGrounder::visit_members(const Condition& condition, size_t variable, Visitor visit) {
    if (variable == condition.variables.size())
        return std::all_of(condition.children.begin(), condition.children.end(), visit);
    const uint32_t number = condition.variables[variable];
    for (const ObjectId object : objects_of(scope_->variables()[number].types)) {
        ++step_count_;
        if (is_too_large()) return false;
        binding_[number] = object;
        if (!visit_members(condition, variable + 1, visit)) return false;
    }
    return true;
}

GoalGrounder::Rest GoalGrounder::ground_literal(const Literal& literal, bool negated) {
    ++step_count_;
    negated = negated != literal.negated;
    const auto decided = [&](bool holds) { return holds != negated ? Rest::True : Rest::False; };
    std::vector<ObjectId> row;
    for (const Term term : literal.terms) row.push_back(term.under(binding_.data()));
    if (literal.kind == LiteralKind::Equality) return decided(row[0] == row[1]);
    const Predicate& predicate = context_.domain.predicates[index(literal.predicate)];
    if (!may_hold(predicate, row)) return decided(false);
    if (predicate.kind == PredicateKind::Basic && !predicate.fluent)
        return decided(is_initial_(literal.predicate, row));
    Literal& found =
        found_.emplace_back(Literal{LiteralKind::Atom, negated, literal.predicate, {}});
    for (const ObjectId object : row) found.terms.push_back(Term::object(object));
    return Rest::Literals;
}

// Returns false if no state has the atom, by the types of its objects.
bool GoalGrounder::may_hold(const Predicate& predicate, const std::vector<ObjectId>& row) const {
    for (size_t i = 0; i < row.size(); ++i)
        if (predicate.trusted[i] && !context_.object_fits(row[i], predicate.parameters[i].types))
            return false;
    return true;
}

const std::vector<ObjectId>& GoalGrounder::objects_of(const std::vector<TypeId>& types) {
    const auto [entry, is_new] = objects_of_.try_emplace(types);
    for (ObjectId object = 0; is_new && object < context_.objects.size(); ++object)
        if (context_.object_fits(object, types)) entry->second.push_back(object);
    return entry->second;
}

}  // namespace planlog
