#include "pddl/actions.hpp"

#include <algorithm>

namespace planlog {

void ActionReader::read(Expr section) {
    static const std::vector<std::string_view> known = {":parameters", ":precondition", ":effect"};
    const std::vector<Expr> members = section.members();
    if (members.size() < 2 || !is_name(members[1].text())) {
        context_.error(section, "expected '(:action NAME ...)'");
        return;
    }
    action_ = {};
    action_.name = members[1].text();
    scope_ = {};
    context_.declare(names_, members[1], "action", 0);
    std::optional<Expr> parts[3];
    for (size_t i = 2; i < members.size(); i += 2) {
        const Expr keyword = members[i];
        const auto found = std::find(known.begin(), known.end(), keyword.text());
        if (found == known.end()) {
            context_.error(
                keyword,
                "expected ':parameters', ':precondition' or ':effect', found " + describe(keyword),
                did_you_mean(keyword.text(), known));
            return;
        }
        std::optional<Expr>& part = parts[found - known.begin()];
        if (part) context_.error(keyword, "second " + describe(keyword) + " of this action");
        if (i + 1 == members.size() || !members[i + 1].is_list()) {
            context_.error(keyword, "expected a list in parentheses after " + describe(keyword));
            return;
        }
        part = members[i + 1];
    }
    if (parts[0]) action_.parameters = context_.read_parameters(parts[0]->first(), parts[0]->end());
    scope_.open(action_.parameters);
    if (parts[1]) {
        const Condition condition = read_condition(context_, scope_, *parts[1]);
        if (!context_.report.failed())
            action_.precondition = compiler_.literals(condition, scope_, action_.name);
    }
    Surroundings nothing;
    if (parts[2]) read_effect(*parts[2], nothing);
    if (!compiler_.charge(0)) context_.error(section, "the action is too large");
    domain_.actions.push_back(std::move(action_));
}

void ActionReader::read_effect(Expr expr, Surroundings& around) {
    const std::string_view head = expr.head();
    if (context_.report.full() || (expr.is_list() && expr.first() == expr.end())) return;
    if (head == "and") {
        for (Expr part = expr.first().next(); part != expr.end(); part = part.next())
            read_effect(part, around);
    } else if (head == "forall") {
        read_forall(expr, around);
    } else if (head == "when") {
        read_when(expr, around);
    } else if (head == "increase") {
        read_cost(expr, around);
    } else if (head == "not") {
        if (context_.has_form(expr, 2, "(not (PREDICATE ...))"))
            read_change(expr.first().next(), true, around);
    } else {
        read_change(expr, false, around);
    }
}

void ActionReader::read_forall(Expr expr, Surroundings& around) {
    if (!context_.has_form(expr, 3, "(forall (VARIABLES) EFFECT)")) return;
    const Expr list = expr.members()[1];
    if (!list.is_list()) {
        context_.error(list, "expected '(VARIABLES)', found " + describe(list));
        return;
    }
    const size_t outer = around.quantified.size();
    const auto variables = context_.read_parameters(list.first(), list.end());
    const std::vector<uint32_t> numbers = scope_.open(variables);
    effect_numbers_.resize(scope_.variables().size());
    for (size_t i = 0; i < numbers.size(); ++i) {
        effect_numbers_[numbers[i]] =
            static_cast<uint32_t>(action_.parameters.size() + around.quantified.size());
        around.quantified.push_back(variables[i]);
    }
    read_effect(list.next(), around);
    around.quantified.resize(outer);
    scope_.close(numbers);
}

void ActionReader::read_when(Expr expr, Surroundings& around) {
    if (!context_.has_form(expr, 3, "(when CONDITION EFFECT)")) return;
    const std::vector<Expr> members = expr.members();
    const Condition condition = read_condition(context_, scope_, members[1]);
    const size_t outer = around.condition.size();
    if (!context_.report.failed()) {
        for (Literal& literal : compiler_.literals(condition, scope_, action_.name)) {
            renumber(literal.terms);
            around.condition.push_back(std::move(literal));
        }
    }
    read_effect(members[2], around);
    around.condition.resize(outer);
}

void ActionReader::read_cost(Expr expr, const Surroundings& around) {
    if (!context_.has_form(expr, 3, "(increase (total-cost) AMOUNT)")) return;
    const Expr increased = expr.members()[1], amount = increased.next();
    context_.has_form(increased, 1, "(total-cost)");
    CostEffect cost{around.quantified, around.condition, !amount.is_list(), 0, 0, {}};
    if (cost.is_constant) {
        cost.constant = static_cast<uint32_t>(domain_.costs.constants.size());
        const std::string expected = "a number that is not negative or '(FUNCTION ...)'";
        if (const auto constant = context_.read_cost(amount, domain_.costs, expected))
            domain_.costs.constants.push_back(*constant);
    } else if (const auto function = context_.find_function(amount)) {
        cost.function = *function;
        const auto& parameters = domain_.functions[*function].parameters;
        cost.terms = context_.read_terms(amount, amount.arguments(), "function", parameters, scope_)
                         .value_or(cost.terms);
    }
    if (context_.report.failed()) return;
    renumber(cost.terms);
    if (compiler_.charge(around.quantified.size() + around.condition.size()))
        action_.costs.push_back(std::move(cost));
}

void ActionReader::read_change(Expr expr, bool negated, const Surroundings& around) {
    std::optional<Literal> atom = context_.read_atom(expr, scope_);
    if (!atom) return;
    Predicate& predicate = domain_.predicates[index(atom->predicate)];
    if (predicate.kind == PredicateKind::Derived)
        context_.error(expr, "derived predicate " + describe(expr.first()) +
                                 " cannot be changed by an effect");
    predicate.fluent = true;
    for (size_t i = 0; i < atom->terms.size() && !negated; ++i)
        if (context_.fit(atom->terms[i], predicate.parameters[i].types, scope_) != Fit::Always)
            predicate.trusted[i] = false;
    if (context_.report.failed()) return;
    atom->negated = negated;
    renumber(atom->terms);
    if (compiler_.charge(around.quantified.size() + around.condition.size()))
        action_.effects.push_back({around.quantified, around.condition, std::move(*atom)});
}

void ActionReader::renumber(std::vector<Term>& terms) const {
    for (Term& term : terms)
        if (term.is_variable && term.value >= action_.parameters.size())
            term.value = effect_numbers_[term.value];
}

}  // namespace planlog
