// What a domain and a task are once they have been read: names interned as
// ids, every condition a conjunction of literals.
//
// Conditions that are more than a conjunction of literals (or, imply, exists,
// forall) do not appear here. The reader gives each one an auxiliary predicate
// over its free variables and writes rules (axioms) that derive it, so that the
// rest of Planlog only ever sees literals and Datalog.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace planlog {

enum class TypeId : uint32_t {};
enum class PredicateId : uint32_t {};
enum class ActionId : uint32_t {};
using ObjectId = uint32_t;  // plain, since objects fill flat rows and arrays

template <class IdType>
constexpr uint32_t index(IdType id) {
    return static_cast<uint32_t>(id);
}

// types[0] is `object`, its own parent; a parent always precedes its children.
struct Type {
    std::string name;
    TypeId parent;
};

// A typed variable. More than one type means `either`; none is never empty.
struct Parameter {
    std::string name;  // without the question mark
    std::vector<TypeId> types;
};

enum class PredicateKind : uint8_t {
    Basic,      // true or false by init and effects
    Derived,    // declared by the user, defined by (:derived ...)
    Auxiliary,  // made by the reader for a compiled condition
};

struct Predicate {
    std::string name;
    std::vector<Parameter> parameters;
    PredicateKind kind = PredicateKind::Basic;
    bool fluent = false;  // some action's effect adds or deletes it (never for derived ones)
    // Column i holds objects of the declared type in every reachable state: init is
    // checked against the declaration, and so are all effects and axioms that write it.
    // Where that cannot be known from the domain alone, the column is not trusted.
    std::vector<bool> trusted;
};

// A variable of the enclosing rule or action (counted from 0), or an object.
struct Term {
    bool is_variable;
    uint32_t value;  // index of the variable, or ObjectId

    static Term variable(uint32_t index) { return {true, index}; }
    static Term object(ObjectId id) { return {false, id}; }
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

// For all values of the quantified variables under which the condition holds:
// the atom becomes true, or false if `atom.negated`. Variables are numbered on
// from the action's parameters.
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
    double constant = 0;
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
    std::vector<Object> constants;  // the first objects of every task
    std::vector<Predicate> predicates;
    std::vector<Function> functions;  // total-cost is not among them
    std::vector<Action> actions;
    std::vector<Axiom> axioms;

    bool is_subtype(TypeId type, TypeId super) const {
        while (type != super && index(type) != 0) type = types[index(type)].parent;
        return type == super;
    }
};

// Ground atoms of all predicates in one flat array: atom i has predicate
// predicates[i] and arguments arguments[offsets[i] .. offsets[i + 1]).
struct AtomList {
    std::vector<PredicateId> predicates;
    std::vector<uint32_t> offsets{0};
    std::vector<ObjectId> arguments;

    size_t size() const { return predicates.size(); }
    const ObjectId* row(size_t i) const { return arguments.data() + offsets[i]; }
    size_t arity(size_t i) const { return offsets[i + 1] - offsets[i]; }
};

// A problem, checked against its domain. Ids of types, predicates and actions
// are the domain's; objects start with the domain's constants.
struct Task {
    const Domain* domain = nullptr;
    std::string name;
    std::vector<Object> objects;
    std::unordered_map<std::string, ObjectId> object_ids;
    AtomList initial;  // no duplicates; basic predicates only
    // The goal is the conjunction of these ground literals. Parts of it that are not
    // literals became auxiliary predicates without parameters, numbered on from the
    // domain's predicates and derived by `goal_axioms`.
    std::vector<Literal> goal;
    std::vector<std::string> goal_sources;  // per literal: the text that it comes from
    std::vector<Predicate> goal_predicates;
    std::vector<Axiom> goal_axioms;
    // Values of domain.functions[f] for argument rows, as given in :init.
    std::vector<std::unordered_map<std::string, double>> function_values;
    bool minimises_cost = false;  // (:metric minimize (total-cost)); else every action costs 1
};

// Key into Task::function_values: the bytes of the argument row.
inline std::string function_key(const std::vector<ObjectId>& arguments) {
    return {reinterpret_cast<const char*>(arguments.data()), arguments.size() * sizeof(ObjectId)};
}

}  // namespace planlog
