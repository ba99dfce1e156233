// A program compiled for a task: rules over the task's objects, the components in the order of
// evaluation, and the dependencies between relations and rules.
#pragma once

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

    // Throws std::invalid_argument if the task lacks an object that the program names.
    CompiledProgram(const Task& task, const Program& program);

    // The body of a rule over the task's objects. The first `bound_count` variables get their
    // values from the caller.
    Query bind(const Rule& rule, uint32_t bound_count) const;

    const RelationDependencies& operator[](RelationId id) const { return relations[index(id)]; }

  private:
    void bind(Term& term) const {
        if (!term.is_variable) term.value = constants_[term.value];
    }
    void find_static_relations(const Task& task, const Program& program);
    void compile_rule(uint32_t number, const Rule& rule);

    std::vector<ObjectId> constants_;  // the program's constants as objects of the task
};

}  // namespace planlog
