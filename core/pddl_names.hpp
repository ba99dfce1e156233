// What the readers of domains and problems share: known names, typed lists,
// and atoms checked against their declarations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "diagnostics.hpp"
#include "domain.hpp"
#include "sexpr.hpp"

namespace planlog {

// The type of an object whose declared type is wrong: fits everywhere, so that one
// mistake is reported once. A parameter of such a type has no types at all.
constexpr TypeId unknown_type{UINT32_MAX};

// All variables of one action, axiom or goal in the order of their declaration. A name
// means its innermost declaration; every declaration keeps its own number.
class Scope {
public:
    const std::vector<Parameter>& variables() const { return variables_; }
    // Visible variables by name, with the question mark.
    const Names& visible() const { return visible_; }
    // Declares the variables and returns their numbers; `close` hides them again.
    std::vector<uint32_t> open(const std::vector<Parameter>& parameters);
    void close(const std::vector<uint32_t>& numbers);

private:
    std::vector<Parameter> variables_;
    Names visible_;  // keys point into declarations_, whose strings never move
    std::unordered_map<std::string, std::vector<uint32_t>> declarations_;  // innermost last
};

// Names of a typed list that share a type: `a b - block`; no type means object.
struct TypedGroup {
    std::vector<Expr> names;
    std::optional<Expr> type;
};

enum class Fit : uint8_t { Always, Sometimes, Never };

// The names known so far and the checks that need them.
struct Context {
    Reporter& report;
    const Domain& domain;
    const std::vector<Object>& objects;
    Names types, predicates, functions, object_ids;
    // False once a declaration could not be read: names may then be missing through no
    // fault of their own, and unknown ones are not reported.
    bool complete = true;
    std::unordered_set<std::string> reported_unknown;

    void error(Expr at, std::string message, std::string hint = {});
    void unsupported(Expr at, const std::string& feature, std::string hint = {});
    void warn(Expr at, std::string message, std::string hint = {});
    // Reports an unknown name, once for each name.
    void unknown(Expr at, const std::string& kind, std::string_view name, const Names& known);

    // Splits the members from `first` to `end` into groups of names with their type.
    std::vector<TypedGroup> typed_groups(Expr first, Expr end, bool variables);
    // The types named by `t` or `(either t u)`; none if they are wrong.
    std::vector<TypeId> read_types(const TypedGroup& group);
    // The single type of objects; `(either ...)` is refused.
    TypeId read_object_type(const TypedGroup& group);
    std::vector<Parameter> read_parameters(Expr first, Expr end, bool allow_repeated);
    // As above, for a parameter list in parentheses.
    std::vector<Parameter> read_parameter_list(Expr list);

    std::optional<Term> read_term(Expr token, Scope& scope);
    // Checks number and types of the arguments of a declared name.
    bool read_arguments(Expr atom, const std::string& kind, const std::vector<Parameter>& declared,
                        Scope& scope, std::vector<Term>& terms);
    // An atom of a declared predicate.
    std::optional<Literal> read_atom(Expr atom, Scope& scope);

    Fit fit(Term term, const std::vector<TypeId>& expected, const Scope& scope) const;
    bool object_fits(ObjectId object, const std::vector<TypeId>& expected) const;
    std::string type_names(const std::vector<TypeId>& types) const;
};

// The name in `(define (KIND NAME) ...)`, where the kind is `domain` or `problem`.
std::optional<Expr> read_define(Context& context, Expr root, std::string_view kind);
// The name in `(KEYWORD NAME)`.
std::optional<Expr> read_name(Context& context, Expr list, std::string_view keyword);
// For what stands where a section is expected.
void report_unknown_section(Context& context, Expr section,
                            const std::vector<std::string_view>& known);
// Checks the names of a (:requirements ...) section.
void check_requirements(Context& context, Expr section);

bool is_name(std::string_view token);
bool is_variable(std::string_view token);
std::optional<double> parse_number(std::string_view token);
// A token or the beginning of a list, in quotes, for messages.
std::string describe(Expr expr);
// "one argument", "3 arguments"
std::string count_of(size_t count, const std::string& noun);

}  // namespace planlog
