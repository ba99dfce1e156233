// Shared by the readers of domains and problems: known names, typed lists, and atoms checked
// against their declarations.
#pragma once

#include <optional>
#include <unordered_set>

#include "pddl/domain.hpp"
#include "pddl/sexpr.hpp"

namespace planlog {

// The type of an object whose declared type is wrong. It fits everywhere, so that an error is
// reported once. A parameter with a wrong type has no types.
constexpr TypeId unknown_type{UINT32_MAX};

// The evaluator supports relations with as many columns. So many variables may be visible at once.
constexpr size_t max_variables = 32;

// All variables of one action, axiom or goal, numbered in the order of declaration. A name refers
// to its innermost declaration.
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
    Names types{}, predicates{}, functions{}, object_ids{};
    // False once a declaration could not be read: a name may then be unknown for that reason, so
    // unknown names are not reported.
    bool complete = true;
    std::unordered_set<std::string> reported_unknown{};

    void add(Severity severity, Expr at, std::string message, std::string hint = "");
    void error(Expr at, std::string message, std::string hint = "");
    void warning(Expr at, std::string message, std::string hint = "");
    void unsupported(Expr at, const std::string& features, std::string hint = "");
    // Reports an unknown name, once for each name.
    void unknown(Expr at, const std::string& kind, const Names& known);
    // Declares a name. If it was declared before, reports that and returns false.
    bool declare(Names& names, Expr name, const std::string& kind, size_t id);
    // Returns whether the list has `size` members; if not, reports that `form` was expected.
    bool has_form(Expr list, size_t size, const std::string& form);

    // Sections of `(define (KIND NAME) SECTION...)` by their first words.
    using Sections = std::unordered_map<std::string_view, std::vector<Expr>>;
    std::optional<Sections> read_sections(Expr root, const std::string& kind, std::string& name,
                                          const std::vector<std::string_view>& known);
    void check_requirements(Expr section);

    // The items from `first` up to `end` as groups of names with their type.
    std::vector<TypedGroup> typed_groups(Expr first, Expr end, bool variables = false);
    // The types named by `t` or `(either t u)`; empty after an error.
    std::vector<TypeId> read_types(const TypedGroup& group);
    // The single type of objects.
    TypeId read_object_type(const TypedGroup& group);
    std::vector<Parameter> read_parameters(Expr first, Expr end, bool allow_repeated = false);

    std::optional<Term> read_term(Expr token, Scope& scope);
    // Terms of `(NAME ...)`, checked in number and types.
    std::optional<std::vector<Term>> read_terms(Expr list, const std::vector<Expr>& terms,
                                                const std::string& kind,
                                                const std::vector<Parameter>& declared,
                                                Scope& scope);
    std::optional<Literal> read_atom(Expr atom, Scope& scope);
    // Reads a cost, a number that is not negative, into the unit of the table. `expected` says
    // what may stand there.
    std::optional<Cost> read_cost(Expr number, CostTable& costs, const std::string& expected);
    // The id of the function in `(FUNCTION TERM...)`.
    std::optional<uint32_t> find_function(Expr term);

    Fit fit(Term term, const std::vector<TypeId>& expected, const Scope& scope) const;
    bool have_common_subtype(TypeId one, TypeId other) const;
    bool object_fits(ObjectId object, const std::vector<TypeId>& expected) const;
    std::string type_names(const std::vector<TypeId>& types) const;
};

bool is_name(std::string_view token);
// Returns whether the word is a keyword of conditions or effects and so cannot be a predicate.
bool is_built_in(std::string_view word);
// A token or the first line of a list, in quotes and shortened, for messages.
std::string describe(Expr expr);

}  // namespace planlog
