// State spaces: the states that a policy's actions reach, expanded breadth-first, and the
// transitions among them that another policy derives.
//
// The materialization is updated from state to state by the atoms in which they differ. Successors
// are computed from the effects of an action alone, as bits, and only new ones are visited.
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

class StateSpace {
  public:
    struct Bounds {
        size_t limit = 10'000;      // of states held; there is always room for the first
        bool through_goals = true;  // expand goal states as well
        bool stop_at_goal = false;  // expand only states nearer than the nearest goal
    };

    StateSpace(const Task& task, AtomTable& atoms, const Program& program,
               std::span<const AtomId> start, Bounds bounds);

    // Expands at most `count` more states. Returns false when the space is finished.
    bool advance(size_t count);

    const Task& task() const { return *task_; }
    const StateSet& states() const { return states_; }
    size_t expanded() const { return offsets.size() - 1; }
    size_t visited() const { return visited_; }  // of these, the first ones, `goals` is known

    // For each state: the number of actions from the first one, and whether it is a goal.
    std::vector<uint32_t> depths;
    std::vector<uint8_t> goals;
    // For the expanded states, which are the first ones: the transitions of state s are
    // those from offsets[s] up to offsets[s + 1].
    std::vector<uint32_t> offsets{0};
    std::vector<uint32_t> successors;
    std::vector<uint32_t> actions;  // into `ground_actions`
    std::vector<int64_t> costs;     // in units of the task; empty if every action costs 1
    ActionList ground_actions;
    RuleCounts rules;  // over the expanded states that are no goals

  private:
    bool expand_next();
    void visit(uint32_t state);
    bool add_transition(uint32_t state, ActionRow action);
    uint32_t atom_number(const StateChange& change);
    uint32_t action_number(ActionRow action);
    void find_effects(ActionRow action);  // as `changes_`
    int64_t find_cost(ActionRow action);

    const Task* task_;
    Bounds bounds_;
    StateSet states_;
    uint32_t visited_ = 0;
    std::unique_ptr<Visitor> visitor_;                   // none when done
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
    std::vector<ActionRow> derived_;
    StepCounter steps_;  // transitions
    std::vector<StateChange> changes_;
};

// Derived transitions of a state space: those of a policy, in all expanded states but goals.
class Derivation {
  public:
    Derivation(const StateSpace& space, AtomTable& atoms, const Program& program);
    bool advance(size_t count);  // visits `count` more states; false at the end

    std::vector<uint8_t> derived;  // per transition
    RuleCounts rules;

  private:
    const StateSpace* space_;
    Visitor visitor_;
    uint32_t next_ = 0;
};

}  // namespace planlog
