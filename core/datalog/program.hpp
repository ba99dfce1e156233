// A Datalog program over a domain: the domain's own axioms and the rules of a
// policy, as rules over relations. It belongs to a domain and serves all tasks.
#pragma once

#include <optional>
#include <string>
#include <vector>

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
    Type,             // objects of one of the given types
    Derived,          // only rules
};

struct RelationInfo {
    Source source;
    uint32_t id;  // of the predicate, or of the type set; unused for derived relations
    uint32_t arity;
    std::string name;
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

// Objects in terms are numbers into Program::constants until a model binds them.
struct Rule {
    RelationId head{};
    std::vector<Term> head_terms;
    std::vector<BodyLiteral> body;
    std::vector<Comparison> comparisons;
    uint32_t variable_count = 0;
};

class Program {
  public:
    explicit Program(const Domain& domain);

    // Relations, made when first asked for.
    RelationId state(PredicateId predicate);
    RelationId status(PredicateId predicate, Source source);
    RelationId type(std::vector<TypeId> types);
    RelationId derived(std::string name, uint32_t arity);
    RelationId action(ActionId action);

    uint32_t constant(const std::string& name);

    // Adds a rule and returns its number. Positive body literals bind all of its variables.
    uint32_t add_rule(Rule rule);
    // This program with what a task adds: relations for all predicates of the state, and
    // rules for the compiled parts of the goal.
    Program for_task(const Task& task) const;

    const Domain& domain() const { return *domain_; }
    const std::vector<RelationInfo>& relations() const { return relations_; }
    const std::vector<Rule>& rules() const { return rules_; }
    const std::vector<std::string>& constants() const { return constants_; }
    const std::vector<std::vector<TypeId>>& type_sets() const { return type_sets_; }
    std::optional<RelationId> find_action(ActionId action) const {
        return action_relations_[index(action)];
    }
    std::optional<RelationId> find_status(PredicateId predicate, Source source) const;

    // Literals of a condition as body literals and comparisons of `rule`.
    void append(const std::vector<Literal>& condition, Rule& rule);
    // Restricts each variable v to objects of one of `types[v]` (empty: any object). Literals are
    // added only where the body does not imply the type already.
    void add_type_literals(Rule& rule, const std::vector<std::vector<TypeId>>& types);

  private:
    const Predicate& predicate(PredicateId id) const;
    RelationId add_relation(RelationInfo info);
    void add_axiom(const Axiom& axiom);
    void add_goal(const Task& task);
    bool implies_type(const BodyLiteral& literal, uint32_t variable,
                      const std::vector<TypeId>& types) const;

    const Domain* domain_;
    std::vector<Predicate> goal_predicates_;
    std::vector<RelationInfo> relations_;
    std::vector<Rule> rules_;
    std::vector<std::string> constants_;
    std::vector<std::vector<TypeId>> type_sets_;
    std::vector<std::optional<RelationId>> action_relations_;
};

// The relations in an order in which they can be evaluated: each component is a
// set of mutually recursive relations that reads only itself and earlier ones.
struct Component {
    std::vector<RelationId> relations;
    std::vector<uint32_t> rules;  // those whose head is in the component
    bool recursive = false;
};

// Throws std::invalid_argument if a relation depends on its own negation.
std::vector<Component> components(const Program& program);

}  // namespace planlog
