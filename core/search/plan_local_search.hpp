// Local search over plans: perturb the plan at one step, then repair its suffix.
//
// A rollout starts at a step of the current plan. The planned action of that step is tabu for a
// number of steps (`tabu_steps`), unless the policy derives nothing else. The policy chooses the
// next `policy_steps` actions. From then on the rollout replays the remaining planned actions, each
// as soon as the policy derives it, in plan order; where the policy derives none of them, it
// chooses again. The rollout thus keeps the plan where the perturbation does not matter, omits
// actions that it made unnecessary and inserts those that it made necessary. The rollout succeeds
// at a goal, or at a state that the plan visits later, from where it rejoins the plan (its
// trajectory is spliced in). It fails if it costs more than the plan, repeats a state, or finds no
// action. A plan of equal cost replaces the current one, too: plateau moves open new neighbours.
//
// Choices are random: the step by the policy's uncertainty there, the first action by its score,
// `tabu_steps` and `policy_steps` uniformly from the powers of two up to the length of the plan. In
// every other rollout the policy samples its actions instead of taking the best. With a network,
// the first rollout is the policy's own plan.
//
// The neighbourhood is that of plan neighbourhood graph search (Nakhost & Mueller, "Action
// elimination and plan neighborhood graph search", ICAPS 2010) with rollouts of the policy in the
// place of exhaustive expansion; destroying and repairing a part of a solution is large
// neighbourhood search (Shaw, CP 1998).
#pragma once

#include <array>
#include <atomic>
#include <random>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "search/scored_walk.hpp"

namespace planlog {

class PlanLocalSearch {
  public:
    PlanLocalSearch(const Task& task, AtomTable& atoms, const Program& program,
                    const Network* network, uint64_t seed);

    // The plan must lead from the state to a goal; std::invalid_argument if it does not.
    // The noise is that of the first trial.
    void start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
               double noise = 0);
    // Takes another plan for the same state.
    void adopt(const std::vector<GroundAction>& plan);
    // Draws a trial and makes it; whether the plan costs less then.
    bool improve();
    // For each action that is derived at a step of the plan: the least cost of a plan that was
    // found to begin with it, from there on; infinite if it is more than that of the plan. If one
    // is found that costs less, the plan is replaced.
    struct ActionCost {
        GroundAction action;
        double cost;
    };
    std::vector<ActionCost> action_costs(size_t step);
    // Follows the policy alone from the start of the plan, for so many steps at most.
    size_t follow_policy(uint64_t key, size_t most);

    std::vector<GroundAction> plan() const;
    size_t length() const { return plan_.size(); }
    double cost() const { return cost_; }
    std::vector<AtomId> state(size_t step);
    uint64_t expansions() const { return expansions_; }  // actions that were chosen and applied
    // What is set to true, perhaps by another thread, makes work end early.
    void watch(const std::atomic<bool>& stop) { stop_ = &stop; }

  private:
    using Fingerprint = std::array<uint64_t, 2>;
    struct Step {
        GroundAction action;
        Row row;            // of the action; no_row if the policy has never derived it
        double cost;        // of the steps before
        size_t changes;     // where its changes begin
        Fingerprint state;  // before it
        double weight;      // share of the other actions in what the policy would draw, at most
    };

    struct Perturbation {   // of a trial
        size_t tabu_steps;  // steps in which the plan's action is not taken if there is another one
        size_t policy_steps;     // steps before the plan's actions are looked for
        double noise;            // in the policy's choice
        uint64_t key;            // of what is left to chance
        bool may_rejoin = true;  // whether a state of the plan is an end
    };

    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    std::optional<size_t> draw_step();
    std::optional<ActionRow> draw_action(size_t step);
    Perturbation draw_perturbation(size_t step);
    void go_to(size_t step);
    std::optional<double> rollout(size_t step, std::optional<ActionRow> first,
                                  Perturbation perturbation);
    std::optional<ActionRow> next(const Perturbation& perturbation);
    std::optional<ActionRow> planned(std::optional<ActionRow> excluded) const;
    void mark_done(ActionRow action);
    bool splice(size_t step, double cost);
    void index_plan();
    void forget_trials();

    ScoredWalk scored_walk_;
    std::mt19937_64 random_;
    const std::atomic<bool>* stop_ = nullptr;
    uint64_t expansions_ = 0;
    std::optional<double> first_noise_;  // of the trial that is to be the first

    std::vector<Step> plan_;
    double cost_ = 0;
    std::vector<StateChange> changes_;                // of all steps, one after another
    std::unordered_map<uint64_t, uint32_t> step_of_;  // first half of a state's fingerprint
    std::unordered_set<uint64_t> tried_;              // states with actions
    // Steps with a given action, per schema and row: the first, and for each step the next.
    std::vector<std::vector<uint32_t>> first_with_;
    std::vector<uint32_t> next_with_;

    size_t base_ = 0;  // the step at which the walk's own steps begin
    // The present trial.
    struct Move {
        ActionRow action;
        double cost;        // of the plan before it
        Fingerprint state;  // before it
    };
    std::vector<Move> trajectory_;
    size_t rejoin_step_ = 0;  // the step of the plan that it goes on with
    uint64_t trial_ = 0;
    std::vector<uint64_t> done_in_;  // per step: the last trial that has taken its action
    size_t from_ = 0;                // steps before this one are not of the trial
    std::vector<std::vector<uint8_t>> parity_;  // per predicate and row
    std::vector<StateChange> net_;
};

}  // namespace planlog
