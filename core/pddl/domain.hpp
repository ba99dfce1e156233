// Domains and tasks after reading: names are ids, and every condition is a conjunction of literals.
//
// Other conditions (or, imply, exists, forall) do not appear here. The reader replaces each one by
// an auxiliary predicate over its free variables and adds rules (axioms) that derive it, so the
// rest of Planlog sees literals and Datalog only (see conditions.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "pddl/cost.hpp"

namespace planlog {

enum class TypeId : uint32_t {};
enum class PredicateId : uint32_t {};
enum class ActionId : uint32_t {};
using ObjectId = uint32_t;  // plain, since objects fill flat rows and arrays

template <class IdType>
constexpr uint32_t index(IdType id) {
    return static_cast<uint32_t>(id);
}

// types[0] is `object`; super-types always precede a type.
struct Type {
    std::string name;
    std::vector<TypeId> parents;  // as declared; `object` only if there is no other
    std::vector<TypeId> above;    // the type itself and all its super-types, ascending
};

// A typed variable. More than one type means `either`; there is always at least one.
struct Parameter {
    std::string name;  // without the question mark
    std::vector<TypeId> types;
};

enum class PredicateKind : uint8_t {
    Basic,      // set by :init and effects
    Derived,    // declared by the user, defined by (:derived ...)
    Auxiliary,  // added by the reader for a compiled condition
};

struct Predicate {
    std::string name;
    std::vector<Parameter> parameters;
    PredicateKind kind = PredicateKind::Basic;
    bool fluent = false;  // some action's effect adds or deletes it (never for derived ones)
    // Whether column i holds objects of the declared type in every reachable state, as far as the
    // domain alone shows: :init, effects and axioms are checked against the declaration.
    std::vector<bool> trusted;
};

// A variable of the enclosing rule or action (counted from 0), or an object.
struct Term {
    bool is_variable;
    uint32_t value;  // index of the variable, or ObjectId

    static Term variable(uint32_t index) { return {true, index}; }
    static Term object(ObjectId id) { return {false, id}; }
    // The object that the term stands for, given those of the variables.
    ObjectId under(const ObjectId* binding) const { return is_variable ? binding[value] : value; }
    bool operator==(const Term&) const = default;
};

enum class LiteralKind : uint8_t { Atom, Equality };

struct Literal {
    LiteralKind kind = LiteralKind::Atom;
    bool negated = false;
    PredicateId predicate{};  // unused for equalities, which have two terms
    std::vector<Term> terms;
};

// head(terms) holds if the body does, for variables of the given types.
struct Axiom {
    PredicateId head{};
    std::vector<Term> terms;
    std::vector<Parameter> variables;
    std::vector<Literal> body;
};

// For all values of the quantified variables under which the condition holds, the atom becomes
// true, or false if `atom.negated`. Quantified variables follow the action's parameters.
struct Effect {
    std::vector<Parameter> quantified;
    std::vector<Literal> condition;
    Literal atom;
};

// (increase (total-cost) amount), the amount a number or a static function.
struct CostEffect {
    std::vector<Parameter> quantified;
    std::vector<Literal> condition;
    bool is_constant = true;
    uint32_t constant = 0;  // into CostTable::constants
    uint32_t function = 0;  // into Domain::functions
    std::vector<Term> terms;
};

struct Action {
    std::string name;
    std::vector<Parameter> parameters;
    std::vector<Literal> precondition;
    std::vector<Effect> effects;
    std::vector<CostEffect> costs;
};

struct Function {
    std::string name;
    std::vector<Parameter> parameters;
};

struct Object {
    std::string name;
    TypeId type;
};

struct Domain {
    std::string name;
    std::vector<Type> types;
    bool has_multiple_inheritance = false;  // some type has several parents
    std::vector<Object> constants;          // the first objects of every task
    std::vector<Predicate> predicates;
    std::vector<Function> functions;  // total-cost is not among them
    std::vector<Action> actions;
    std::vector<Axiom> axioms;
    CostTable costs;  // those in effects

    bool is_subtype(TypeId type, TypeId super) const {
        if (type == super) return true;
        const std::vector<TypeId>& above = types[index(type)].above;
        return std::find(above.begin(), above.end(), super) != above.end();
    }
    bool is_subtype_of_any(TypeId type, const std::vector<TypeId>& supers) const {
        return std::any_of(supers.begin(), supers.end(),
                           [&](TypeId super) { return is_subtype(type, super); });
    }
};

// Ground atoms or actions in flat arrays: the arguments of number i are those from offsets[i] up to
// offsets[i + 1].
template <class Symbol>
struct GroundList {
    std::vector<Symbol> symbols;
    std::vector<uint32_t> offsets{0};
    std::vector<ObjectId> arguments;

    size_t size() const { return symbols.size(); }
    const ObjectId* row(size_t i) const { return arguments.data() + offsets[i]; }
    size_t arity(size_t i) const { return offsets[i + 1] - offsets[i]; }
    void add(Symbol symbol, const ObjectId* values, size_t arity) {
        symbols.push_back(symbol);
        arguments.insert(arguments.end(), values, values + arity);
        offsets.push_back(static_cast<uint32_t>(arguments.size()));
    }
};
using AtomList = GroundList<PredicateId>;
using ActionList = GroundList<ActionId>;

// A part of a goal that is no conjunction of literals.
struct GoalFormula {
    std::string text;                     // as written
    std::vector<PredicateId> predicates;  // of its atoms that did not become goals themselves
};

// A problem, checked against its domain. Objects start with the domain's constants.
struct Task {
    const Domain* domain = nullptr;
    std::string name;
    std::vector<Object> objects;
    std::unordered_map<std::string, ObjectId> object_ids;
    AtomList initial;  // no duplicates; basic predicates only
    // The goal is the conjunction of these ground literals, without repetition. Parts of it that
    // are no conjunctions of literals became auxiliary predicates without parameters, which
    // `goal_axioms` derive. Their ids follow those of the domain's predicates.
    std::vector<Literal> goal;
    std::vector<GoalFormula> goal_formulas;  // one for each literal of such a predicate, in order
    std::vector<Predicate> goal_predicates;
    std::vector<Axiom> goal_axioms;
    CostTable costs;              // those in effects and in :init
    bool minimises_cost = false;  // (:metric minimize (total-cost)); else every action costs 1
};

// The objects of ground terms.
inline std::vector<ObjectId> object_row(const std::vector<Term>& terms) {
    std::vector<ObjectId> row;
    for (Term term : terms) row.push_back(term.value);
    return row;
}

// Key into CostTable::function_values: the bytes of the argument row.
inline std::string function_key(const std::vector<ObjectId>& arguments) {
    return {reinterpret_cast<const char*>(arguments.data()), arguments.size() * sizeof(ObjectId)};
}

}  // namespace planlog
