#include "planning/statespace.hpp"

namespace planlog {

// --- StateSpace --------------------------------------------------------------

StateSpace::StateSpace(const Task& task, AtomTable& atoms, const Program& program,
                       std::span<const AtomId> start, Bounds bounds)
    : depths{0},
      goals{0},
      task_(&task),
      bounds_(bounds),
      successors_(task, atoms, program, start) {}

bool StateSpace::advance(size_t count) {
    for (; count > 0 && !is_done_; --count) {
        if (expand_next()) continue;
        successors_.release();  // a finished space is only read
        is_done_ = true;
    }
    return !is_done_;
}

void StateSpace::visit(uint32_t state) {
    successors_.visit(state);
    goals[state] = successors_.walk().goals_left() == 0;
    visited_ = state + 1;
}

bool StateSpace::expand_next() {
    const auto state = static_cast<uint32_t>(expanded());
    if (state == states().size()) return false;
    visit(state);
    if (goals[state] && bounds_.stop_at_goal) {
        for (uint32_t other = state + 1; other < states().size() && depths[other] == depths[state];
             ++other)
            visit(other);
        return false;
    }
    if (!goals[state] || bounds_.through_goals) {
        derived_.clear();
        successors_.walk().append_actions(derived_);
        for (ActionRow action : derived_) {
            steps_.step();
            if (add_transition(state, action)) continue;
            successors.resize(offsets.back());
            actions.resize(offsets.back());
            costs.resize(task_->minimises_cost ? offsets.back() : 0);
            return false;
        }
    }
    if (!goals[state]) successors_.count_rules(rules);
    offsets.push_back(static_cast<uint32_t>(successors.size()));
    return true;
}

// False if the successor is new and there is no room for it.
bool StateSpace::add_transition(uint32_t state, ActionRow action) {
    const uint32_t successor = successors_.successor(state, action, bounds_.limit);
    if (successor == StateSet::none) return false;
    if (successor == depths.size()) {
        depths.push_back(depths[state] + 1);
        goals.push_back(0);
    }
    if (successors.size() == UINT32_MAX) return false;
    successors.push_back(successor);
    actions.push_back(successors_.action_number(action));
    if (task_->minimises_cost) costs.push_back(successors_.cost(action));
    return true;
}

// --- Derivation --------------------------------------------------------------

Derivation::Derivation(const StateSpace& space, AtomTable& atoms, const Program& program,
                       std::optional<RelationId> dead)
    : derived(space.successors.size()),
      is_dead(space.states().size()),
      space_(&space),
      visitor_(space.task(), atoms, program),
      dead_(dead) {}

bool Derivation::advance(size_t count) {
    const ActionList& actions = space_->ground_actions();
    for (; count > 0 && next_ < space_->expanded(); --count, ++next_) {
        if (space_->goals[next_]) continue;
        visitor_.visit(space_->states(), next_);
        visitor_.count_rules(rules);
        if (dead_)
            is_dead[next_] = visitor_.walk().materialization().relation(*dead_).holds(nullptr);
        for (uint32_t t = space_->offsets[next_]; t < space_->offsets[next_ + 1]; ++t) {
            const uint32_t action = space_->actions[t];
            const ActionId schema = actions.symbols[action];
            derived[t] = visitor_.walk().find_derived(schema, actions.row(action)).has_value();
        }
    }
    return next_ < space_->expanded();
}

}  // namespace planlog
