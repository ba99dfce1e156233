#include "pddl_names.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace planlog {

namespace {

constexpr size_t max_either = 64;

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

bool is_name(std::string_view token) {
    return !token.empty() && token[0] != '-' &&
           std::all_of(token.begin(), token.end(), is_name_char);
}

bool is_variable(std::string_view token) { return token.size() > 1 && token[0] == '?'; }

std::optional<double> parse_number(std::string_view token) {
    double value = 0;
    const size_t digit = token.starts_with('-') ? 1 : 0;
    if (token.size() <= digit || token[digit] < '0' || token[digit] > '9') return {};
    const char* end = token.data() + token.size();
    const auto [rest, problem] = std::from_chars(token.data(), end, value);
    if (rest != end || problem != std::errc{} || !std::isfinite(value)) return {};
    return value;
}

std::string describe(Expr expr) {
    if (!expr.is_list()) return quoted(expr.written());
    if (expr.first() == expr.end()) return "'()'";
    if (expr.first().is_list()) return "'((...'";
    return quoted("(" + std::string(expr.first().written()) + " ...)");
}

std::string count_of(size_t count, const std::string& noun) {
    return count == 1 ? "one " + noun : std::to_string(count) + " " + noun + "s";
}

std::vector<uint32_t> Scope::open(const std::vector<Parameter>& parameters) {
    std::vector<uint32_t> numbers;
    for (const Parameter& parameter : parameters) {
        const auto number = static_cast<uint32_t>(variables_.size());
        variables_.push_back(parameter);
        const auto entry = declarations_.try_emplace('?' + parameter.name).first;
        entry->second.push_back(number);
        visible_[entry->first] = number;
        numbers.push_back(number);
    }
    return numbers;
}

void Scope::close(const std::vector<uint32_t>& numbers) {
    for (const uint32_t number : numbers) {
        const auto entry = declarations_.find('?' + variables_[number].name);
        entry->second.pop_back();
        if (entry->second.empty())
            visible_.erase(entry->first);
        else
            visible_[entry->first] = entry->second.back();
    }
}

void Context::error(Expr at, std::string message, std::string hint) {
    report.add(Severity::Error, at.begin_byte(), at.end_byte(), std::move(message),
               std::move(hint));
}

void Context::unsupported(Expr at, const std::string& feature, std::string hint) {
    report.add(Severity::Unsupported, at.begin_byte(), at.end_byte(),
               feature + " not supported", std::move(hint));
}

void Context::warn(Expr at, std::string message, std::string hint) {
    report.add(Severity::Warning, at.begin_byte(), at.end_byte(), std::move(message),
               std::move(hint));
}

void Context::unknown(Expr at, const std::string& kind, std::string_view name,
                      const Names& known) {
    if (!complete) {
        // The cause has been reported already.
        return;
    }
    if (report.full() || !reported_unknown.insert(kind + ' ' + std::string(name)).second) return;
    error(at, "unknown " + kind + " " + describe(at), did_you_mean(name, known));
}

std::vector<TypedGroup> Context::typed_groups(Expr first, Expr end, bool variables) {
    const std::string kind = variables ? "a variable" : "a name";
    std::vector<TypedGroup> groups;
    TypedGroup group;
    for (Expr item = first; item != end && !report.full(); item = item.next()) {
        const std::string_view text = item.text();
        if (item.is("-")) {
            const Expr type = item.next();
            if (group.names.empty()) error(item, "expected " + kind + " before '-'");
            if (type == end) {
                error(item, "expected a type after '-'");
                break;
            }
            group.type = type;
            groups.push_back(std::move(group));
            group = {};
            item = type;
        } else if (!item.is_list() &&
                   (variables ? is_variable(text) && is_name(text.substr(1)) : is_name(text))) {
            group.names.push_back(item);
        } else {
            std::string hint;
            if (variables && is_name(text)) {
                hint = "variables begin with '?'";
                group.names.push_back(item);  // read as the variable it was meant to be
            } else if (text.starts_with('-'))
                hint = "is a space missing after '-'?";
            else if (!item.is_list())
                hint = "names consist of letters, digits, '-' and '_'";
            error(item, "expected " + kind + ", found " + describe(item), hint);
            if (!variables) complete = false;
        }
    }
    if (!group.names.empty()) groups.push_back(std::move(group));
    return groups;
}

std::vector<TypeId> Context::read_types(const TypedGroup& group) {
    if (!group.type) return {TypeId{0}};
    std::vector<Expr> named = {*group.type};
    if (group.type->is_list()) {
        named = group.type->members();
        if (group.type->head() != "either" || named.size() < 2) {
            error(*group.type, "expected a type or '(either ...)', found " + describe(*group.type));
            return {};
        }
        named.erase(named.begin());
        if (named.size() > max_either) {
            error(*group.type, "more than " + std::to_string(max_either) + " types in 'either'");
            return {};
        }
    }
    std::vector<TypeId> result;
    bool good = true;
    for (const Expr type : named) {
        const auto found = type.is_list() ? types.end() : types.find(type.text());
        if (found != types.end()) {
            if (std::find(result.begin(), result.end(), TypeId{found->second}) == result.end())
                result.push_back(TypeId{found->second});
            continue;
        }
        good = false;
        if (type.is_list() || !is_name(type.text()))
            error(type, "expected a type, found " + describe(type));
        else
            unknown(type, "type", type.text(), types);
    }
    return good ? result : std::vector<TypeId>{};
}

TypeId Context::read_object_type(const TypedGroup& group) {
    if (group.type && group.type->head() == "either") {
        unsupported(*group.type, "objects of several types ('either') are",
                    "declare a common super-type in (:types ...)");
        return unknown_type;
    }
    const std::vector<TypeId> types = read_types(group);
    return types.empty() ? unknown_type : types[0];
}

std::vector<Parameter> Context::read_parameters(Expr first, Expr end, bool allow_repeated) {
    std::vector<Parameter> parameters;
    std::unordered_set<std::string_view> seen;
    for (const TypedGroup& group : typed_groups(first, end, true)) {
        const std::vector<TypeId> types = read_types(group);
        for (const Expr name : group.names) {
            const std::string_view text = name.text();
            if (!seen.insert(text).second && !allow_repeated)
                error(name, "variable " + describe(name) + " is declared twice in this list");
            parameters.push_back({std::string(text.substr(text[0] == '?')), types});
        }
    }
    return parameters;
}

std::vector<Parameter> Context::read_parameter_list(Expr list) {
    if (list.is_list()) return read_parameters(list.first(), list.end(), false);
    error(list, "expected a list of variables in parentheses, found " + describe(list));
    complete = false;
    return {};
}

std::optional<Term> Context::read_term(Expr token, Scope& scope) {
    const std::string_view text = token.text();
    if (token.is_list()) {
        if (functions.contains(token.head()) || token.head() == "total-cost")
            unsupported(token, "functions as arguments are");
        else
            error(token, "expected a variable or an object, found " + describe(token));
        return {};
    }
    if (is_variable(text)) {
        const auto variable = scope.visible().find(text);
        if (variable != scope.visible().end()) return Term::variable(variable->second);
        error(token, "unknown variable " + describe(token), did_you_mean(text, scope.visible()));
        // Known from now on, of a type that fits everywhere, so that it is reported once.
        return Term::variable(scope.open({{std::string(text.substr(1)), {}}})[0]);
    }
    const auto found = object_ids.find(text);
    if (found != object_ids.end()) return Term::object(found->second);
    const std::string as_variable = '?' + std::string(text);
    if (scope.visible().contains(as_variable))
        error(token, "unknown object " + describe(token), "did you mean '" + as_variable + "'?");
    else
        unknown(token, "object", text, object_ids);
    return {};
}

bool Context::read_arguments(Expr atom, const std::string& kind,
                             const std::vector<Parameter>& declared, Scope& scope,
                             std::vector<Term>& terms) {
    const Expr name = atom.first();
    const std::vector<Expr> members = atom.members();
    if (members.size() - 1 != declared.size()) {
        error(atom, kind + " " + describe(name) + " takes " +
                        count_of(declared.size(), "argument") + ", found " +
                        std::to_string(members.size() - 1));
        return false;
    }
    bool good = true;
    terms.reserve(declared.size());
    for (size_t i = 0; i < declared.size(); ++i) {
        const Expr argument = members[i + 1];
        const std::optional<Term> term = read_term(argument, scope);
        if (!term) {
            good = false;
        } else if (fit(*term, declared[i].types, scope) == Fit::Never) {
            const std::vector<TypeId> found = term->is_variable
                                                  ? scope.variables()[term->value].types
                                                  : std::vector{objects[term->value].type};
            error(argument, describe(argument) + " is of type " + type_names(found) + ", but " +
                                kind + " " + describe(name) + " expects " +
                                type_names(declared[i].types) + " here");
            good = false;
        } else {
            terms.push_back(*term);
        }
    }
    return good;
}

std::optional<Literal> Context::read_atom(Expr atom, Scope& scope) {
    const std::string_view head = atom.head();
    if (head.empty()) {
        error(atom, "expected '(predicate ...)', found " + describe(atom));
        return {};
    }
    const auto found = predicates.find(head);
    if (found == predicates.end()) {
        unknown(atom.first(), "predicate", head, predicates);
        return {};
    }
    Literal literal;
    literal.predicate = PredicateId{found->second};
    const Predicate& predicate = domain.predicates[found->second];
    if (!read_arguments(atom, "predicate", predicate.parameters, scope, literal.terms)) return {};
    return literal;
}

Fit Context::fit(Term term, const std::vector<TypeId>& expected, const Scope& scope) const {
    if (!term.is_variable)
        return object_fits(term.value, expected) ? Fit::Always : Fit::Never;
    const std::vector<TypeId>& types = scope.variables()[term.value].types;
    if (types.empty() || expected.empty()) return Fit::Always;
    bool always = true, sometimes = false;
    for (const TypeId type : types) {
        bool inside = false;
        for (const TypeId other : expected) {
            inside = inside || domain.is_subtype(type, other);
            sometimes = sometimes || inside || domain.is_subtype(other, type);
        }
        always = always && inside;
    }
    return always ? Fit::Always : sometimes ? Fit::Sometimes : Fit::Never;
}

bool Context::object_fits(ObjectId object, const std::vector<TypeId>& expected) const {
    const TypeId type = objects[object].type;
    if (type == unknown_type || expected.empty()) return true;
    return std::any_of(expected.begin(), expected.end(),
                       [&](TypeId other) { return domain.is_subtype(type, other); });
}

std::string Context::type_names(const std::vector<TypeId>& types) const {
    std::string text;
    for (size_t i = 0; i < types.size(); ++i) {
        if (i > 0) text += i + 1 < types.size() ? ", " : " or ";
        text += quoted(domain.types[index(types[i])].name);
    }
    return text;
}

std::optional<Expr> read_define(Context& context, Expr root, std::string_view kind) {
    const std::string expected = "expected '(define (" + std::string(kind) + " NAME) ...)'";
    if (root.head() != "define") {
        context.error(root.first() == root.end() ? root : root.first(), expected);
        return {};
    }
    const Expr header = root.first().next();
    if (header == root.end()) {
        context.error(root, expected);
        return {};
    }
    const std::string_view other = kind == "domain" ? "problem" : "domain";
    if (header.head() == other) {
        context.error(header, "expected a " + std::string(kind) + ", but this file defines a " +
                                  std::string(other));
        return {};
    }
    return read_name(context, header, kind);
}

std::optional<Expr> read_name(Context& context, Expr list, std::string_view keyword) {
    const std::vector<Expr> members = list.members();
    if (list.head() == keyword && members.size() == 2 && is_name(members[1].text()))
        return members[1];
    context.error(list, "expected '(" + std::string(keyword) + " NAME)', found " +
                            describe(list));
    return {};
}

void report_unknown_section(Context& context, Expr section,
                            const std::vector<std::string_view>& known) {
    context.complete = false;
    const std::string_view head = section.head();
    if (head.starts_with(':'))
        context.error(section.first(), "unknown section " + describe(section.first()),
                      did_you_mean(head, known));
    else
        context.error(section, "expected a section such as '(" + std::string(known[0]) +
                                   " ...)', found " + describe(section));
}

void check_requirements(Context& context, Expr section) {
    static const std::vector<std::string_view> supported = {
        ":strips", ":typing", ":equality", ":negative-preconditions", ":disjunctive-preconditions",
        ":existential-preconditions", ":universal-preconditions", ":quantified-preconditions",
        ":conditional-effects", ":adl", ":derived-predicates", ":action-costs"};
    static const std::vector<std::string_view> unsupported = {
        ":object-fluents", ":durative-actions", ":duration-inequalities", ":continuous-effects",
        ":timed-initial-literals", ":timed-initial-effects", ":time", ":preferences",
        ":constraints", ":processes", ":events", ":probabilistic-effects", ":non-deterministic",
        ":rewards", ":mdp", ":multi-agent", ":hierarchy", ":domain-axioms", ":open-world",
        ":true-negation", ":ucpop", ":safety-constraints", ":expression-evaluation"};
    const auto among = [](const std::vector<std::string_view>& names, std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        if (among(supported, item.text())) continue;
        if (item.is(":fluents") || item.is(":numeric-fluents"))
            context.warn(item, "of " + describe(item) + " only action costs are supported");
        else if (among(unsupported, item.text()))
            context.unsupported(item, "requirement " + describe(item) + " is");
        else
            context.error(item, "unknown requirement " + describe(item),
                          did_you_mean(item.text(), supported));
    }
}

}  // namespace planlog
