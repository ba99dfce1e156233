#include "pddl_actions.hpp"

#include <algorithm>

namespace planlog {

void ActionReader::read(Expr section) {
    const std::vector<Expr> members = section.members();
    if (members.size() < 2 || !is_name(members[1].text())) {
        context_.error(section, "expected '(:action NAME ...)'");
        return;
    }
    action_ = {};
    action_.name = members[1].text();
    scope_ = {};
    if (!action_names_.emplace(members[1].text(), 0).second)
        context_.error(members[1], "action " + describe(members[1]) + " is declared twice");

    static const std::vector<std::string_view> known = {":parameters", ":precondition", ":effect"};
    std::optional<Expr> parts[3];
    for (size_t i = 2; i < members.size(); ++i) {
        const Expr keyword = members[i];
        const auto found = std::find(known.begin(), known.end(), keyword.text());
        if (found == known.end()) {
            if (keyword.is(":vars") || keyword.is(":duration") || keyword.is(":condition"))
                context_.unsupported(keyword, describe(keyword) + " in actions is");
            else
                context_.error(keyword,
                               "expected ':parameters', ':precondition' or ':effect', found " +
                                   describe(keyword),
                               did_you_mean(keyword.text(), known));
            return;
        }
        if (i + 1 == members.size() || !members[i + 1].is_list()) {
            context_.error(keyword, "expected a list in parentheses after " + describe(keyword));
            return;
        }
        std::optional<Expr>& part = parts[found - known.begin()];
        if (part) context_.error(keyword, "second " + describe(keyword) + " of this action");
        part = members[++i];
    }
    if (!parts[0]) {
        context_.error(members[1], "action " + describe(members[1]) + " has no ':parameters'",
                       "write ':parameters ()' if it takes none");
        return;
    }
    action_.parameters = context_.read_parameter_list(*parts[0]);
    scope_.open(action_.parameters);
    if (parts[1]) {
        const Condition condition = read_condition(context_, scope_, *parts[1]);
        if (!context_.report.failed())
            action_.precondition = compiler_.literals(condition, scope_, action_.name);
    }
    if (parts[2]) {
        Surroundings nothing;
        read_effect(*parts[2], nothing);
    }
    if (!compiler_.charge(0)) context_.error(section, too_large);
    domain_.actions.push_back(std::move(action_));
}

void ActionReader::read_effect(Expr expr, Surroundings& around) {
    if (context_.report.full()) return;
    const std::string_view head = expr.head();
    if (expr.is_list() && expr.first() == expr.end()) return;
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
        const std::vector<Expr> members = expr.members();
        if (members.size() == 2)
            read_atom_effect(members[1], true, around);
        else
            context_.error(expr,
                           "'not' takes one atom, found " + std::to_string(members.size() - 1));
    } else {
        read_atom_effect(expr, false, around);
    }
}

void ActionReader::read_forall(Expr expr, Surroundings& around) {
    const std::vector<Expr> members = expr.members();
    if (members.size() != 3) {
        context_.error(expr, "expected '(forall (VARIABLES) EFFECT)', found " +
                                 count_of(members.size() - 1, "part"));
        return;
    }
    const std::vector<Parameter> variables = context_.read_parameter_list(members[1]);
    const std::vector<uint32_t> numbers = scope_.open(variables);
    const size_t outer = around.quantified.size();
    for (size_t i = 0; i < numbers.size(); ++i) {
        effect_numbers_.resize(scope_.variables().size());
        effect_numbers_[numbers[i]] =
            static_cast<uint32_t>(action_.parameters.size() + around.quantified.size());
        around.quantified.push_back(variables[i]);
    }
    read_effect(members[2], around);
    around.quantified.resize(outer);
    scope_.close(numbers);
}

void ActionReader::read_when(Expr expr, Surroundings& around) {
    const std::vector<Expr> members = expr.members();
    if (members.size() != 3) {
        context_.error(expr, "expected '(when CONDITION EFFECT)', found " +
                                 count_of(members.size() - 1, "part"));
        return;
    }
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
    const std::vector<Expr> members = expr.members();
    if (members.size() != 3) {
        context_.error(expr, "expected '(increase (total-cost) AMOUNT)', found " +
                                 count_of(members.size() - 1, "part"));
        return;
    }
    if (members[1].head() != "total-cost" || members[1].members().size() != 1) {
        if (context_.functions.contains(members[1].head()))
            context_.unsupported(expr, "numeric effects other than on '(total-cost)' are");
        else
            context_.error(members[1], "expected '(total-cost)', found " + describe(members[1]));
        return;
    }
    const Expr amount = members[2];
    CostEffect cost{around.quantified, around.condition, true, 0, 0, {}};
    if (!amount.is_list()) {
        const std::optional<double> number = parse_number(amount.text());
        if (!number || *number < 0)
            context_.error(amount, "expected a number that is not negative or a function, found " +
                                       describe(amount));
        else
            cost.constant = *number;
    } else if (amount.head() == "+" || amount.head() == "-" || amount.head() == "*" ||
               amount.head() == "/") {
        context_.unsupported(amount, "arithmetic in costs is");
    } else if (amount.head() == "total-cost") {
        context_.unsupported(amount, "costs that depend on '(total-cost)' are");
    } else {
        const auto found = context_.functions.find(amount.head());
        if (found == context_.functions.end()) {
            if (amount.head().empty())
                context_.error(amount, "expected '(function ...)', found " + describe(amount));
            else
                context_.unknown(amount.first(), "function", amount.head(), context_.functions);
            return;
        }
        cost.is_constant = false;
        cost.function = found->second;
        context_.read_arguments(amount, "function",
                                domain_.functions[found->second].parameters, scope_, cost.terms);
    }
    if (context_.report.failed()) return;
    renumber(cost.terms);
    if (compiler_.charge(around.quantified.size() + around.condition.size()))
        action_.costs.push_back(std::move(cost));
}

void ActionReader::read_atom_effect(Expr expr, bool negated, const Surroundings& around) {
    static constexpr std::string_view numeric[] = {"decrease", "assign", "scale-up", "scale-down"};
    const std::string_view head = expr.head();
    if (std::find(std::begin(numeric), std::end(numeric), head) != std::end(numeric)) {
        context_.unsupported(expr, "numeric effects (" + describe(expr.first()) + ") are");
        return;
    }
    if (!context_.predicates.contains(head) &&
        (head == "oneof" || head == "probabilistic" || head == "at" || head == "or")) {
        context_.unsupported(expr, "effects with " + describe(expr.first()) + " are");
        return;
    }
    if (head == "=") {
        context_.error(expr, "'=' cannot be changed by an effect");
        return;
    }
    std::optional<Literal> atom = context_.read_atom(expr, scope_);
    if (!atom) return;
    Predicate& predicate = domain_.predicates[index(atom->predicate)];
    if (predicate.kind == PredicateKind::Derived) {
        context_.error(expr, "derived predicate " + describe(expr.first()) +
                                 " cannot be changed by an effect");
        return;
    }
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
