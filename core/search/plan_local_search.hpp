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
// Redundant actions are eliminated from the first plan and from every other one before the search
// adopts it. The policy may need them all the same, so a rollout may cost more than the plan by as
// much as elimination has removed from one plan.
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

#include "search/action_elimination.hpp"
#include "search/scored_walk.hpp"

namespace planlog {

class PlanLocalSearch {
  public:
    // `stop` ends the work early when it becomes true, perhaps on another thread.
    PlanLocalSearch(const Task& task, AtomTable& atoms, const Program& program,
                    const Network* network, uint64_t seed, bool eliminate,
                    const std::atomic<bool>& stop);

    // Starts from a plan that leads from the state to a goal; throws std::invalid_argument if it
    // does not. With a network, the policy's own plan is the first rollout, with this noise.
    void start(std::span<const AtomId> state, const std::vector<GroundAction>& plan, double noise);
    // Continues from another plan for the same state. Returns whether it is cheaper.
    bool adopt(const std::vector<GroundAction>& plan);
    // Makes one rollout at random. Returns whether the plan has become cheaper.
    bool improve();
    // Cost and number of actions of a plan. Of two plans of equal cost, that with fewer actions is
    // better: it has no detours that cost nothing.
    using Size = std::pair<Cost, size_t>;
    // Returns for each action that is derived at a step the size of the best plan found that begins
    // with it, from there on; none if no such plan is as cheap as the current one. If one is
    // better, it becomes the current plan.
    using ActionCosts = std::vector<std::pair<GroundAction, std::optional<Size>>>;
    ActionCosts action_costs(size_t step);

    // To be called when an exception, such as an interruption, has ended any of these. The search
    // keeps its plan and can continue.
    void after_exception() { is_walk_undefined_ = true; }

    std::vector<GroundAction> plan() const;
    Cost cost() const { return cost_; }
    std::vector<AtomId> state(size_t step);
    uint64_t expansions() const { return expansions_; }  // actions chosen and applied

  private:
    using Fingerprint = std::array<uint64_t, 2>;
    struct Step {
        GroundAction action;
        Row row;            // of the action; no_row if the policy has never derived it
        Cost cost;          // of the steps before
        Fingerprint state;  // before it
        std::vector<StateChange> changes;
        double weight = 1;  // upper bound of the policy's probability of other, untried actions

        ActionRow action_row() const { return {action.action, row}; }
    };

    struct Perturbation {
        size_t tabu_steps;       // during which the planned action of the first step is tabu
        size_t policy_steps;     // before planned actions are replayed
        double noise;            // in the policy's choices
        uint64_t key;            // of random choices
        bool may_rejoin = true;  // at a later state of the plan
    };

    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    std::optional<size_t> draw_step();
    std::optional<ActionRow> draw_action(size_t step);
    Perturbation draw_perturbation(size_t step);
    std::vector<Step> apply(std::span<const GroundAction> actions, Cost cost);
    void go_to(size_t step);
    std::optional<Cost> rollout(size_t step, std::optional<ActionRow> first,
                                const Perturbation& perturbation);
    std::optional<ActionRow> next(const Perturbation& perturbation);
    uint32_t first_left(ActionRow action) const;
    bool adopt_eliminated(const std::vector<GroundAction>& plan, Cost cost,
                          const ActionElimination::Result& eliminated);
    bool accept(size_t step, Cost cost);
    bool replace(size_t begin, size_t end, std::vector<Step> added, Cost cost);
    void index_plan();
    void forget_tried();
    void restore_walk();

    ScoredWalk scored_walk_;
    std::vector<AtomId> initial_;
    bool is_walk_undefined_ = false;
    std::mt19937_64 random_;
    bool eliminate_;
    std::optional<ActionElimination> elimination_;
    const std::atomic<bool>& stop_;
    uint64_t expansions_ = 0;
    std::optional<double> first_noise_;  // if the policy's own plan is still to be tried

    std::vector<Step> plan_;
    Cost cost_;
    Cost slack_;  // cost of redundant actions that rollouts may have
    std::unordered_map<uint64_t, uint32_t> step_of_;  // by the first half of a state's fingerprint
    std::unordered_set<uint64_t> tried_;              // hashes of states with actions
    // Steps with a given action, per schema and row: the first, and for each step the next.
    std::vector<std::vector<uint32_t>> first_with_;
    std::vector<uint32_t> next_with_;

    size_t base_ = 0;  // the step of the plan at which the walk's own steps begin
    // The current rollout.
    struct Move {
        ActionRow action;
        Cost cost;          // of the plan before it
        Fingerprint state;  // before it
    };
    std::vector<Move> trajectory_;
    size_t from_ = 0;         // step of the plan at which it starts
    size_t rejoin_step_ = 0;  // step of the plan at which it ends
    uint64_t rollouts_ = 0;
    std::vector<uint64_t> applied_in_;  // per step: the last rollout that applied its action
    std::vector<std::vector<uint8_t>> parity_;  // per predicate and row
    std::vector<StateChange> net_;
};

}  // namespace planlog
