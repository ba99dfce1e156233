// State spaces: the states that a policy's actions reach, expanded breadth-first, and the
// transitions among them that another policy derives.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "planning/successors.hpp"

namespace planlog {

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
    const StateSet& states() const { return successors_.states(); }
    const ActionList& ground_actions() const { return successors_.actions(); }
    size_t expanded() const { return offsets.size() - 1; }
    size_t visited() const { return visited_; }  // of these, the first ones, `goals` is known

    // For each state: the number of actions from the first one, and whether it is a goal.
    std::vector<uint32_t> depths;
    std::vector<uint8_t> goals;
    // For the expanded states, which are the first ones: the transitions of state s are
    // those from offsets[s] up to offsets[s + 1].
    std::vector<uint32_t> offsets{0};
    std::vector<uint32_t> successors;
    std::vector<uint32_t> actions;  // into `ground_actions()`
    std::vector<int64_t> costs;     // in units of the task; empty if every action costs 1
    RuleCounts rules;               // over the expanded states that are no goals

  private:
    bool expand_next();
    void visit(uint32_t state);
    bool add_transition(uint32_t state, ActionRow action);

    const Task* task_;
    Bounds bounds_;
    Successors successors_;
    uint32_t visited_ = 0;
    bool is_done_ = false;
    std::vector<ActionRow> derived_;
    StepCounter steps_;  // transitions
};

// Derived transitions of a state space: those of a policy, in all expanded states but goals.
class Derivation {
  public:
    // `dead` is a relation without arguments.
    Derivation(const StateSpace& space, AtomTable& atoms, const Program& program,
               std::optional<RelationId> dead);
    bool advance(size_t count);  // visits `count` more states; false at the end

    std::vector<uint8_t> derived;  // per transition
    std::vector<uint8_t> is_dead;  // per state of the space: whether `dead` holds
    RuleCounts rules;

  private:
    const StateSpace* space_;
    Visitor visitor_;
    std::optional<RelationId> dead_;
    uint32_t next_ = 0;
};

}  // namespace planlog
