// The extensional database of a task: relations whose atoms are given by the task and the state.
//
// An atom p(x) of a state determines p(x) itself and, where the program reads them, the goal
// statuses: p@ag(x) (an achieved goal), p@ug(x) (an unachieved goal) and p@aa(x) (achieved, but
// no goal). Types and p@goal are the same in all states.
#pragma once

#include <optional>
#include <vector>

#include "datalog/program.hpp"
#include "datalog/relation.hpp"

namespace planlog {

class InputRelations {
  public:
    InputRelations(const Task& task, const Program& program);

    RelationId state_relation(PredicateId id) const { return state_relations_[index(id)]; }

    // Calls set(relation, values, truth value) for the goal statuses of a state atom.
    template <class Set>
    void set_statuses(PredicateId predicate, const ObjectId* values, bool value, Set set) const {
        const auto& [achieved, unachieved, achieved_nongoal] = statuses_[index(predicate)];
        if (!achieved && !unachieved && !achieved_nongoal) return;
        if (goals_[index(predicate)].holds(values)) {
            if (achieved) set(*achieved, values, value);
            if (unachieved) set(*unachieved, values, !value);
        } else if (achieved_nongoal) {
            set(*achieved_nongoal, values, value);
        }
    }
    // Calls set(relation, values, true) for the atoms that are true in the empty state: all goals
    // are unachieved in it.
    template <class Set>
    void set_unachieved(Set set) const {
        for (size_t p = 0; p < goals_.size(); ++p)
            if (const auto& unachieved = statuses_[p].unachieved)
                for (Row row : goals_[p].true_rows()) set(*unachieved, goals_[p].values(row), true);
    }
    // Calls set(relation, values, true) for types and goals.
    template <class Set>
    void set_types_and_goals(const Task& task, const Program& program, Set set) const {
        for (uint32_t i = 0; i < program.relations().size(); ++i) {
            const RelationInfo& info = program.relations()[i];
            if (info.source == Source::Goal && info.id < goals_.size()) {
                const Relation& goals = goals_[info.id];
                for (Row row : goals.true_rows()) set(RelationId(i), goals.values(row), true);
            } else if (info.source == Source::Type) {
                for (ObjectId object = 0; object < task.objects.size(); ++object)
                    if (task.domain->is_subtype_of_any(task.objects[object].type,
                                                       program.type_sets()[info.id]))
                        set(RelationId(i), &object, true);
            }
        }
    }

  private:
    struct Statuses {
        std::optional<RelationId> achieved, unachieved, achieved_nongoal;
    };

    std::vector<RelationId> state_relations_;
    std::vector<Statuses> statuses_;  // per predicate of the domain; only basic ones have any
    std::vector<Relation> goals_;     // per predicate of the domain: its positive goal atoms
};

}  // namespace planlog
