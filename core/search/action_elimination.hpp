// Which actions of a plan serve its goal.
//
// An action serves if it makes something true or false that the goal or a later action that serves
// needs. The others can be left out, and what remains is still a plan: all that it needs holds as
// it did before. Since fewer actions may make others superfluous, this is repeated until all serve.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "planning/state.hpp"
#include "planning/walk.hpp"

namespace planlog {

struct Elimination {
    std::vector<uint32_t> steps;  // that serve, in order
    double cost;                  // of these
};

// A plan for a task from a state on. Nothing is said if an action has conditional effects or costs,
// or if an action or the goal has a condition over derived predicates: what these need is not to be
// seen from literals.
std::optional<Elimination> eliminate_actions(const Task& task, AtomTable& atoms,
                                             std::span<const AtomId> state,
                                             const std::vector<GroundAction>& plan);

}  // namespace planlog
