// A Datalog program over a domain: the domain's axioms and the rules of a policy. It belongs to a
// domain and serves all of its tasks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datalog/arithmetic.hpp"
#include "datalog/relation.hpp"
#include "pddl/domain.hpp"

namespace planlog {

enum class RelationId : uint32_t {};

// Where the atoms of a relation come from.
enum class Source : uint8_t {
    State,            // p: true in the state
    Goal,             // p@goal: a positive goal of the task
    AchievedGoal,     // p@ag
    UnachievedGoal,   // p@ug
    AchievedNonGoal,  // p@aa
    NegativeGoal,     // not p is a goal of the task; rules read p@un instead
    Unwanted,         // p@un: true, and not p is a goal
    Type,             // objects of one of the given types
    Function,         // the values of a static function, which are the last column
    Derived,          // defined by rules only
    Aggregate,        // values computed from the rows of another relation
};

struct RelationInfo {
    Source source;
    uint32_t id;  // of the predicate, function, type set or aggregate; unused for derived relations
    uint32_t arity;
    std::string name;
    ColumnMask numbers = 0;  // columns that hold numbers; the others hold objects
    // The relation has at most one true row for each key, which are the values of the other
    // columns: the row with the least number in this column.
    std::optional<uint32_t> least{};
};

// For each group, a value computed from the elements of the group: how many there are, the sum or
// the extremes of their numbers, or the first of their objects in the order of the task. The
// columns of the elements are those of the group, the value, and whatever tells elements with equal
// values apart. The columns of the result are those of the group and this value. An empty group has
// a count and a sum, 0, if it is among the groups.
struct Aggregate {
    enum class Kind : uint8_t { Count, Sum, Min, Max, First };
    // Whether the values of the elements are objects, and so is that of a group.
    bool has_objects() const { return kind == Kind::First; }
    Kind kind;
    RelationId elements;
    std::optional<RelationId> groups;  // those that may be empty
    uint32_t group_size = 0;
};

struct BodyLiteral {
    RelationId relation{};
    bool negated = false;
    std::vector<Term> terms;
};

struct Comparison {
    Term left;
    Term right;
    bool equal;
};

// A conjunction of literals and comparisons. Where it is evaluated, terms name the task's objects.
struct Query {
    std::vector<BodyLiteral> body;
    std::vector<Comparison> comparisons;
    std::vector<Constraint> constraints;  // on numbers
    uint32_t variable_count = 0;
    uint32_t bound_count = 0;  // the first variables have values already
};

// Objects in terms are numbers of Program::constants; a CompiledProgram binds them to a task.
struct Rule {
    RelationId head{};
    std::vector<Term> head_terms;
    std::vector<BodyLiteral> body;
    std::vector<Comparison> comparisons;
    std::vector<Constraint> constraints;
    uint32_t variable_count = 0;
    std::string place{}, text{};  // for messages
};

class Program {
  public:
    explicit Program(const Domain& domain);

    // Relations, added when first asked for.
    RelationId state(PredicateId predicate);
    RelationId status(PredicateId predicate, Source source);
    RelationId type(std::vector<TypeId> types);
    RelationId derived(std::string name, uint32_t arity, ColumnMask numbers = 0,
                       std::optional<uint32_t> least = std::nullopt);
    RelationId function(uint32_t function);
    RelationId aggregate(std::string name, Aggregate aggregate);
    RelationId action(ActionId action);

    uint32_t constant(const std::string& name);

    // Adds a rule and returns its number. Throws std::invalid_argument unless the rule is safe
    // (positive body literals, and equations whose other side is bound, bind all of its variables)
    // and its relations and terms exist.
    uint32_t add_rule(Rule rule);
    // This program extended for a task: relations for all predicates of the state, and rules for
    // the compiled parts of the goal.
    Program for_task(const Task& task) const;

    const Domain& domain() const { return *domain_; }
    const std::vector<RelationInfo>& relations() const { return relations_; }
    const std::vector<Rule>& rules() const { return rules_; }
    const std::vector<std::string>& constants() const { return constants_; }
    const std::vector<std::vector<TypeId>>& type_sets() const { return type_sets_; }
    const std::vector<Aggregate>& aggregates() const { return aggregates_; }
    std::optional<RelationId> find_action(ActionId action) const {
        return action_relations_[index(action)];
    }
    std::optional<RelationId> find_status(PredicateId predicate, Source source) const {
        return find(source, index(predicate));
    }

    // A condition of the domain as a query. Its quantified variables follow the bound ones and are
    // restricted to objects of their types. The constants of the domain are the first ones of the
    // program and the first objects of every task, so its terms need no binding to a task.
    Query query(const std::vector<Literal>& condition, uint32_t bound_count,
                const std::vector<Parameter>& quantified);

  private:
    const Predicate& predicate(PredicateId id) const;
    std::optional<RelationId> find(Source source, uint32_t id) const;
    RelationId add_relation(RelationInfo info);
    void add_axiom(const Axiom& axiom);
    bool implies_type(const BodyLiteral& literal, Term variable,
                      const std::vector<TypeId>& types) const;

    const Domain* domain_;
    std::vector<Predicate> goal_predicates_;
    std::vector<RelationInfo> relations_;
    std::vector<Rule> rules_;
    std::vector<std::string> constants_;
    std::vector<std::vector<TypeId>> type_sets_;
    std::vector<Aggregate> aggregates_;
    std::vector<std::optional<RelationId>> action_relations_;
};

// Marks the variables that equations bind, given those that are bound already.
void bind_by_equations(const std::vector<Constraint>& constraints, std::vector<bool>& bound);

// The strongly connected components of the relations, in an order of evaluation: each one is a set
// of mutually recursive relations, whose rules read only itself and earlier components.
struct Component {
    std::vector<RelationId> relations;
    std::vector<uint32_t> rules;  // those whose head is in the component
    bool recursive = false;
    bool least = false;                   // its relations hold least values
    std::optional<uint32_t> aggregate{};  // number of the one that its only relation holds
};

// Throws std::invalid_argument if a relation depends on its own negation or on an aggregate of
// itself, or if only some relations of a component hold least values.
std::vector<Component> components(const Program& program);

}  // namespace planlog
