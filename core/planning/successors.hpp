// States as bits, and their successors: a walk goes from state to state, and the effects of an
// action alone give the bits of a successor, so that only states that are looked at are visited.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "planning/state_set.hpp"
#include "planning/walk.hpp"

namespace planlog {

// Firing counts of the rules of a program, over the visited states.
struct RuleCounts {
    std::vector<uint64_t> states;       // with at least one derivation
    std::vector<uint64_t> derivations;  // in all of them
};

// A walk that can go to any state of a set.
class Visitor {
  public:
    Visitor(const Task& task, AtomTable& atoms, const Program& program)
        : walk_(task, atoms, program) {}

    void visit(const StateSet& states, uint32_t number);
    // Evaluates a state from scratch. Rows follow the order of predicates and arguments, not that
    // of atom ids, which depends on the thread that met an atom first. So circuits, which number
    // nodes and sum floats in the order of rows, are the same with any number of workers.
    void visit(std::span<const AtomId> state);
    void count_rules(RuleCounts& counts) const;
    Walk& walk() { return walk_; }

  private:
    void start(const StateSet& states, uint32_t number);

    Walk walk_;
    std::vector<uint64_t> at_;        // the bits of the present state; none before the first
    std::vector<StateChange> atoms_;  // per atom of the set: its predicate and row
    std::vector<StateChange> changes_;
};

// The states that were met so far, by their numbers, and the ground actions between them.
class Successors {
  public:
    Successors(const Task& task, AtomTable& atoms, const Program& program,
               std::span<const AtomId> start);

    const StateSet& states() const { return states_; }  // the first one is the start
    const ActionList& actions() const { return actions_; }
    Walk& walk() { return visitor_->walk(); }
    void visit(uint32_t state);
    void count_rules(RuleCounts& counts) const { visitor_->count_rules(counts); }
    // The number of an action that is derived in the visited state.
    uint32_t action_number(ActionRow action);
    // Returns the state that the action leads to from the visited state; StateSet::none if it is
    // new and there are `limit` states.
    uint32_t successor(uint32_t state, ActionRow action, size_t limit);
    int64_t cost(ActionRow action);  // in units of the task
    void release();                  // what only new states need

  private:
    uint32_t atom_number(const StateChange& change);
    void find_effects(ActionRow action);  // as `changes_`
    int64_t find_cost(ActionRow action);

    const Task* task_;
    StateSet states_;
    ActionList actions_;
    std::unique_ptr<Visitor> visitor_;                   // none when released
    std::vector<std::vector<uint32_t>> atom_numbers_;    // per predicate and row
    std::vector<std::vector<uint32_t>> action_numbers_;  // per schema and row
    // Effects of ground actions that do not depend on the state: those of action a are
    // fixed_effects_[fixed_offsets_[a] .. fixed_offsets_[a + 1]), each twice the atom's number
    // plus the value.
    std::vector<bool> is_conditional_;  // per schema
    std::vector<uint32_t> fixed_effects_;
    std::vector<uint32_t> fixed_offsets_{0};
    // Likewise the costs that do not depend on the state; the others are 0.
    std::vector<bool> has_conditional_cost_;  // per schema
    std::vector<int64_t> fixed_costs_;        // per ground action, if the task minimises cost
    std::vector<StateChange> changes_;
};

}  // namespace planlog
