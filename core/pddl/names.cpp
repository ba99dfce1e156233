#include "pddl/names.hpp"

#include <algorithm>

namespace planlog {

namespace {

using Words = std::vector<std::string_view>;

// The words of a text, which has single spaces between them.
Words words_of(std::string_view text) {
    Words words;
    for (size_t end = 0; end != text.npos; text.remove_prefix(std::min(end + 1, text.size()))) {
        end = text.find(' ');
        words.push_back(text.substr(0, end));
    }
    return words;
}

bool contains(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_variable(std::string_view token) {
    return token.starts_with('?') && is_name(token.substr(1));
}

}  // namespace

bool is_name(std::string_view token) {
    // Names of Planlog itself, such as those of auxiliary predicates, contain '|'.
    return !token.empty() && token[0] != '(' && token[0] != '-' && token[0] != ':' &&
           token[0] != '?' && token.find('|') == token.npos;
}

bool is_built_in(std::string_view word) {
    static const Words words = words_of("= and or not imply exists forall when increase");
    return contains(words, word);
}

std::string describe(Expr expr) {
    const std::string_view text = expr.written();
    // Up to the end of the line or a comment, which may hold bytes that are not text.
    const size_t end = expr.is_list() ? std::min<size_t>(text.find_first_of("\r\n;"), 30) : 60;
    return end >= text.size() ? quoted(text) : quoted(std::string(text.substr(0, end)) + "...");
}

std::vector<uint32_t> Scope::open(const std::vector<Parameter>& parameters) {
    std::vector<uint32_t> numbers;
    for (const Parameter& parameter : parameters) {
        numbers.push_back(static_cast<uint32_t>(variables_.size()));
        variables_.push_back(parameter);
        const auto entry = declarations_.try_emplace('?' + parameter.name).first;
        entry->second.push_back(numbers.back());
        visible_[entry->first] = numbers.back();
    }
    return numbers;
}

void Scope::close(const std::vector<uint32_t>& numbers) {
    for (const uint32_t number : numbers) {
        const auto entry = declarations_.find('?' + variables_[number].name);
        entry->second.pop_back();
        visible_.erase(entry->first);
        if (!entry->second.empty()) visible_[entry->first] = entry->second.back();
    }
}

void Context::add(Severity severity, Expr at, std::string message, std::string hint) {
    report.add(severity, at.begin_byte(), at.end_byte(), std::move(message), std::move(hint));
}

void Context::warning(Expr at, std::string message, std::string hint) {
    add(Severity::Warning, at, std::move(message), std::move(hint));
}

void Context::error(Expr at, std::string message, std::string hint) {
    add(Severity::Error, at, std::move(message), std::move(hint));
}

void Context::unsupported(Expr at, const std::string& features, std::string hint) {
    add(Severity::Unsupported, at, features + " not supported", std::move(hint));
}

void Context::unknown(Expr at, const std::string& kind, const Names& known) {
    const std::string name(at.text());
    if (complete && !report.full() && reported_unknown.insert(kind + ' ' + name).second)
        error(at, "unknown " + kind + " " + describe(at), did_you_mean(name, known));
}

bool Context::declare(Names& names, Expr name, const std::string& kind, size_t id) {
    if (names.emplace(name.text(), static_cast<uint32_t>(id)).second) return true;
    error(name, kind + " " + describe(name) + " is declared twice");
    return false;
}

bool Context::has_form(Expr list, size_t size, const std::string& form) {
    size_t count = 0;
    if (list.is_list())
        for (Expr item = list.first(); item != list.end(); item = item.next()) ++count;
    if (count != size) error(list, "expected '" + form + "', found " + describe(list));
    return count == size;
}

std::optional<Context::Sections> Context::read_sections(
    Expr root, const std::string& kind, std::string& name,
    const std::vector<std::string_view>& known) {
    const std::vector<Expr> members = root.members();
    const std::string form = "(define (" + kind + " NAME) ...)";
    if (root.head() != "define" || members.size() < 2) {
        error(root, "expected '" + form + "', found " + describe(root));
        return {};
    }
    const std::vector<Expr> header = members[1].members();
    if (header.size() != 2 || !header[0].is(kind) || !is_name(header[1].text())) {
        error(members[1], "expected '" + form + "', found " + describe(members[1]));
        return {};
    }
    name = header[1].text();
    Sections sections;
    for (size_t i = 2; i < members.size(); ++i) {
        const Expr section = members[i];
        std::vector<Expr>& same = sections[section.head()];
        if (contains(known, section.head())) {
            if (!same.empty() && section.head() != ":action" && section.head() != ":derived")
                error(section.first(), "second section " + describe(section.first()));
            else
                same.push_back(section);
        } else {
            complete = false;
            const Expr at = section.head().empty() ? section : section.first();
            error(at, "expected a section, found " + describe(at),
                  did_you_mean(section.head(), known));
        }
    }
    return sections;
}

void Context::check_requirements(Expr section) {
    static const Words supported = words_of(
        ":strips :typing :equality :negation :negative-preconditions :disjunctive-preconditions "
        ":existential-preconditions :universal-preconditions :quantified-preconditions "
        ":conditional-effects :adl :derived-predicates :action-costs");
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        if (contains(supported, item.text())) continue;
        if (item.is(":fluents") || item.is(":numeric-fluents"))
            warning(item, "of " + describe(item) + " only action costs are supported");
        else
            error(item, "unknown requirement " + describe(item),
                  did_you_mean(item.text(), supported));
    }
}

std::vector<TypedGroup> Context::typed_groups(Expr first, Expr end, bool variables) {
    const std::string expected = variables ? "expected a variable" : "expected a name";
    std::vector<TypedGroup> groups;
    TypedGroup group;
    for (Expr item = first; item != end && !report.full(); item = item.next()) {
        const std::string_view text = item.text();
        if (item.is("-")) {
            if (group.names.empty()) warning(item, expected + " before '-'");
            if (item.next() == end) {
                error(item, "expected a type after '-'");
                break;
            }
            item = item.next();
            group.type = item;
            groups.push_back(std::move(group));
            group = {};
        } else if (!item.is_list() && (variables ? is_variable(text) : is_name(text))) {
            group.names.push_back(item);
        } else {
            std::string hint;
            if (text.starts_with('-'))
                hint = "is a space missing after '-'?";
            else if (variables && is_name(text))
                hint = "variables begin with '?'";
            else if (!item.is_list())
                hint = "names do not begin with '-', ':' or '?', and have no '|'";
            error(item, expected + ", found " + describe(item), hint);
            if (!variables) complete = false;
            // Read as the variable it was meant to be.
            if (variables && is_name(text)) group.names.push_back(item);
        }
    }
    if (!group.names.empty()) groups.push_back(std::move(group));
    return groups;
}

std::vector<TypeId> Context::read_types(const TypedGroup& group) {
    constexpr size_t max_either = 64;  // bounds the time of each check
    if (!group.type) return {TypeId{0}};
    std::vector<Expr> named = {*group.type};
    if (group.type->is_list()) {
        named = group.type->members();
        if (group.type->head() != "either" || named.size() < 2 || named.size() > max_either) {
            error(*group.type, "expected a type or '(either TYPE ...)' of at most " +
                                   std::to_string(max_either) + " types, found " +
                                   describe(*group.type));
            return {};
        }
        named.erase(named.begin());
    }
    std::vector<TypeId> result;
    bool good = true;
    for (const Expr type : named) {
        const auto found = type.is_list() ? types.end() : types.find(type.text());
        good = good && found != types.end();
        if (type.is_list() || !is_name(type.text()))
            error(type, "expected a type, found " + describe(type));
        else if (found == types.end())
            unknown(type, "type", types);
        else if (std::find(result.begin(), result.end(), TypeId{found->second}) == result.end())
            result.push_back(TypeId{found->second});
    }
    return good ? result : std::vector<TypeId>{};
}

TypeId Context::read_object_type(const TypedGroup& group) {
    const std::vector<TypeId> found = read_types(group);
    return found.empty() ? unknown_type : found[0];
}

std::vector<Parameter> Context::read_parameters(Expr first, Expr end, bool allow_repeated) {
    std::vector<Parameter> parameters;
    Names seen;
    for (const TypedGroup& group : typed_groups(first, end, true)) {
        const std::vector<TypeId> group_types = read_types(group);
        for (const Expr name : group.names) {
            if (!allow_repeated) declare(seen, name, "variable", 0);
            const std::string_view text = name.text();
            parameters.push_back({std::string(text.substr(text[0] == '?')), group_types});
        }
    }
    return parameters;
}

std::optional<Term> Context::read_term(Expr token, Scope& scope) {
    const std::string_view text = token.text();
    if (token.is_list()) {
        error(token, "expected a variable or an object, found " + describe(token));
        return {};
    }
    if (text.starts_with('?')) {
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
        unknown(token, "object", object_ids);
    return {};
}

std::optional<std::vector<Term>> Context::read_terms(Expr list, const std::vector<Expr>& terms,
                                                     const std::string& kind,
                                                     const std::vector<Parameter>& declared,
                                                     Scope& scope) {
    const std::string name = kind + " " + describe(list.first());
    if (terms.size() != declared.size()) {
        const std::string noun = declared.size() == 1 ? " argument" : " arguments";
        error(list, name + " takes " + std::to_string(declared.size()) + noun + ", found " +
                        std::to_string(terms.size()));
        return {};
    }
    std::vector<Term> result;
    for (size_t i = 0; i < terms.size(); ++i) {
        const std::optional<Term> term = read_term(terms[i], scope);
        if (!term) continue;
        if (fit(*term, declared[i].types, scope) != Fit::Never) {
            result.push_back(*term);
            continue;
        }
        const auto found = term->is_variable ? scope.variables()[term->value].types
                                             : std::vector{objects[term->value].type};
        error(terms[i], describe(terms[i]) + " is of type " + type_names(found) + ", but " + name +
                            " expects " + type_names(declared[i].types));
    }
    if (result.size() != terms.size()) return {};
    return result;
}

std::optional<Literal> Context::read_atom(Expr atom, Scope& scope) {
    if (atom.head().empty() || is_built_in(atom.head())) {
        error(atom, "expected '(PREDICATE ...)', found " + describe(atom));
        return {};
    }
    const auto found = predicates.find(atom.head());
    if (found == predicates.end()) {
        unknown(atom.first(), "predicate", predicates);
        return {};
    }
    auto terms = read_terms(atom, atom.arguments(), "predicate",
                            domain.predicates[found->second].parameters, scope);
    if (!terms) return {};
    return Literal{LiteralKind::Atom, false, PredicateId{found->second}, std::move(*terms)};
}

std::optional<Cost> Context::read_cost(Expr number, CostTable& costs, const std::string& expected) {
    const auto parsed = parse_number(number.text());
    if (!parsed || parsed->value.digits < 0) {
        error(number, "expected " + expected + ", found " + describe(number));
        return std::nullopt;
    }
    const auto limit = [](uint32_t decimals) { return Decimal{INT64_MAX, decimals}.text(); };
    const auto& [size, value] = *parsed;
    if (size == NumberSize::TooLarge) {
        error(number, describe(number) + " is too large: costs are at most " + limit(0));
    } else if (size == NumberSize::TooPrecise) {
        error(number, describe(number) + " is too precise: costs have at most " +
                          std::to_string(Decimal::max_decimals) + " decimals");
    } else if (const auto cost = costs.in_unit(value)) {
        return cost;
    } else {
        const uint32_t decimals = std::max(costs.decimals, value.decimals);
        error(number, "a task whose costs have " + std::to_string(decimals) +
                          (decimals == 1 ? " decimal" : " decimals") +
                          " can have costs of at most " + limit(decimals));
    }
    return std::nullopt;
}

std::optional<uint32_t> Context::find_function(Expr term) {
    const auto found = functions.find(term.head());
    if (found != functions.end()) return found->second;
    if (term.head().empty())
        error(term, "expected '(FUNCTION ...)', found " + describe(term));
    else
        unknown(term.first(), "function", functions);
    return {};
}

Fit Context::fit(Term term, const std::vector<TypeId>& expected, const Scope& scope) const {
    if (!term.is_variable) return object_fits(term.value, expected) ? Fit::Always : Fit::Never;
    const std::vector<TypeId>& found = scope.variables()[term.value].types;
    if (found.empty() || expected.empty()) return Fit::Always;
    bool always = true, sometimes = false;
    for (const TypeId type : found) {
        bool inside = false;
        for (const TypeId other : expected) {
            inside = inside || domain.is_subtype(type, other);
            sometimes = sometimes || inside || have_common_subtype(type, other);
        }
        always = always && inside;
    }
    return always ? Fit::Always : sometimes ? Fit::Sometimes : Fit::Never;
}

bool Context::have_common_subtype(TypeId one, TypeId other) const {
    if (domain.is_subtype(one, other) || domain.is_subtype(other, one)) return true;
    return domain.has_multiple_inheritance &&
           std::ranges::any_of(domain.types, [&](const Type& type) {
               return std::ranges::count(type.above, one) && std::ranges::count(type.above, other);
           });
}

bool Context::object_fits(ObjectId object, const std::vector<TypeId>& expected) const {
    const TypeId type = objects[object].type;
    return type == unknown_type || expected.empty() || domain.is_subtype_of_any(type, expected);
}

std::string Context::type_names(const std::vector<TypeId>& listed) const {
    std::string text;
    for (const TypeId type : listed)
        text += (text.empty() ? "" : " or ") + quoted(domain.types[index(type)].name);
    return text;
}

}  // namespace planlog
