// A program compiled for a task: rules over the task's objects, the components in the order of
// evaluation, the dependencies between relations and rules, and the relations that are given.
//
// An atom p(x) of a state determines p(x) itself and, where the program reads them, the goal
// statuses: p@ag(x) (an achieved goal), p@ug(x) (an unachieved goal), p@aa(x) (achieved, but no
// goal) and p@un(x) (achieved, but unwanted: its negation is a goal). Types and p@goal are the same
// in all states.
#pragma once

#include <optional>
#include <vector>

#include "datalog/join.hpp"
#include "datalog/program.hpp"

namespace planlog {

// A literal in the body of a rule.
struct Occurrence {
    uint32_t rule;
    uint32_t literal;
};

struct RelationDependencies {
    bool is_static = false;  // no action changes it
    uint32_t component = 0;
    std::vector<uint32_t> deriving;  // rules with this head
    // Occurrences in rule bodies, those of one rule next to each other. Gates are left out, and so
    // are static relations, except within their own component.
    std::vector<Occurrence> occurrences;
    std::vector<uint32_t> positive_readers;  // other components with a positive occurrence
    std::vector<uint32_t> negated_readers;
    std::vector<uint32_t> gated_rules;  // rules that have the relation as a gate
};

struct CompiledRule {
    static constexpr uint32_t unlinked = UINT32_MAX;

    Query query;
    RelationId head{};
    std::vector<Term> head_terms;
    uint32_t component = 0;
    bool is_static = false;
    bool is_recursive = false;  // as the component
    bool is_least = false;
    uint32_t deriving_position = 0;     // in the list `deriving` of the head
    std::vector<uint32_t> occurrences;  // per literal: position in `occurrences` of its relation
    std::vector<uint32_t> own;          // recursive literals: positive, of the rule's own component
    std::vector<uint32_t> negated;      // linked literals under negation
    std::vector<uint32_t> gates;        // literals without arguments that actions can change

    bool is_linked(uint32_t literal) const { return occurrences[literal] != unlinked; }
    size_t match_width() const { return query.body.size() + query.variable_count; }
};

struct CompiledProgram {
    std::vector<Component> components;
    std::vector<RelationDependencies> relations;
    std::vector<CompiledRule> rules;
    std::vector<RelationId> state_relations;  // per predicate of the domain and of the goal
    // The given atoms of the empty state: types, values of functions, goals, and all goals as
    // unachieved. Their numbers are those of `numbers`.
    GroundList<RelationId> given;
    NumberTable numbers;
    std::vector<Aggregate> aggregates;
    std::vector<RelationInfo> infos;  // of the relations

    // The program is one made by Program::for_task. Throws std::invalid_argument if the task lacks
    // an object that the program names, and NumberError if a function that the program reads has
    // a value that is not whole.
    CompiledProgram(const Task& task, const Program& program);

    // Calls set(relation, values, truth value) for the goal statuses of a state atom.
    template <class Set>
    void set_statuses(PredicateId predicate, const ObjectId* values, bool value, Set set) const {
        const auto& [achieved, unachieved, achieved_nongoal, unwanted] =
            statuses_[index(predicate)];
        if (unwanted && negative_goals_[index(predicate)].holds(values))
            set(*unwanted, values, value);
        if (!achieved && !unachieved && !achieved_nongoal) return;
        if (goals_[index(predicate)].holds(values)) {
            if (achieved) set(*achieved, values, value);
            if (unachieved) set(*unachieved, values, !value);
        } else if (achieved_nongoal) {
            set(*achieved_nongoal, values, value);
        }
    }

  private:
    struct Statuses {
        std::optional<RelationId> achieved, unachieved, achieved_nongoal, unwanted;
    };

    void find_goals(const Task& task, const Program& program);
    void find_given_atoms(const Task& task, const Program& program);
    void add_function_values(const Task& task, RelationId relation, const RelationInfo& info);
    void find_static_relations(const Task& task, const Program& program);
    void find_readers(const Component& component, uint32_t number);
    void compile_rule(uint32_t number, const Rule& rule, const std::vector<ObjectId>& constants);

    std::vector<Statuses> statuses_;  // per predicate of the domain; only basic ones have any
    // Per predicate of the domain: the atoms that are goals, and those whose negations are.
    std::vector<Relation> goals_, negative_goals_;
};

}  // namespace planlog
