// Action elimination: the removal of redundant actions from a plan.
//
// An action is backward justified if it establishes a fact that the goal or a later backward
// justified action needs (Fink and Yang, "Formalizing plan justifications", 1992). The other
// actions are redundant: all that the rest needs still holds without them. Since removals may make
// further actions redundant, this is repeated until nothing changes. (Action elimination by Nakhost
// and Mueller, ICAPS 2010, tests each action by a simulation of the rest; it takes quadratic time.)
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "planning/state.hpp"
#include "planning/walk.hpp"

namespace planlog {

class ActionElimination {
  public:
    // For plans of the task from `state`.
    ActionElimination(const Task& task, AtomTable& atoms, std::span<const AtomId> state);

    struct Result {
        std::vector<uint32_t> steps;  // of the plan that are kept, in order
        Cost cost;                    // of these
    };
    // Returns nothing if an action of the plan has conditional effects or costs, or if derived
    // predicates occur in a precondition or in the goal: the facts that these need are not given by
    // their literals.
    std::optional<Result> eliminate(const std::vector<GroundAction>& plan);

  private:
    struct Fact {
        AtomId atom;
        bool value;
    };
    struct GroundedAction {
        std::vector<Fact> preconditions, effects;
        Cost cost;
    };
    struct Hash {
        size_t operator()(const GroundAction& action) const {
            const auto& objects = action.arguments;
            return mix(index(action.action) + hash_of(objects.data(), objects.size()));
        }
    };

    std::optional<GroundedAction> ground(const GroundAction& action);
    bool append_fact(const Literal& literal, const std::vector<ObjectId>& arguments,
                     std::vector<Fact>& facts);
    std::vector<uint32_t> justified(const std::vector<const GroundedAction*>& plan,
                                    const std::vector<uint32_t>& steps) const;

    const Task& task_;
    AtomTable& atoms_;
    std::vector<bool> holds_;  // in the state, per atom that occurs in a fact
    std::vector<Fact> goal_;
    bool has_plain_goal_ = true;  // of literals over basic predicates
    // Searches eliminate from many plans with the same actions.
    std::unordered_map<GroundAction, std::optional<GroundedAction>, Hash> actions_;
};

}  // namespace planlog
