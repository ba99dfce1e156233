// Local search around a policy: from somewhere along the best plan so far things are done
// otherwise, and the rest is made to fit.
//
// A trial begins at a step of the plan. The plan's action there is put off for some steps (its
// delay), unless nothing else can be done. First comes another derived action, or what the plan
// does next. For some steps (its lead) the policy decides how to go on; then the actions that are
// left of the plan are taken as soon as the policy derives them, in the plan's order, and where it
// derives none of them, the policy decides again. So what the plan does elsewhere stays, what has
// become needless is left out, and what has become necessary is added. The trial ends with a plan
// at the goal, or at a state of the present plan, whose rest it takes over. It fails where it costs
// more than the present plan, goes in a circle, or finds no action. A plan that costs as much as
// the present one takes its place, too: that leads to other trials.
//
// Steps are drawn by how uncertain the policy is there, first actions by its scores, delays and
// leads evenly from powers of two up to the length of the plan. In every other trial the policy is
// not quite sure: its decisions are drawn, too. The first trial of a policy with scores is what it
// does by itself.
#pragma once

#include <array>
#include <atomic>
#include <random>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "guide.hpp"

namespace planlog {

class Improver {
  public:
    Improver(const Task& task, AtomTable& atoms, const Program& program, const Network* network,
             uint64_t seed);

    // The plan must lead from the state to a goal; std::invalid_argument if it does not. The noise
    // is that of the first trial.
    void start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
               double noise = 0);
    // Takes another plan for the same state.
    void adopt(const std::vector<GroundAction>& plan);
    // Draws a trial and makes it; whether the plan costs less then.
    bool improve();
    // For each action that is derived at a step of the plan: the least cost of a plan that was
    // found to begin with it, from there on; infinite if it is more than that of the plan. If one
    // is found that costs less, the plan is replaced.
    struct Option {
        GroundAction action;
        double cost;
    };
    std::vector<Option> survey(size_t step);
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

    struct Manner {         // of a trial
        size_t delay;       // steps in which the plan's action is not taken if there is another one
        size_t lead;        // steps before the plan's actions are looked for
        double noise;       // in the policy's choice
        uint64_t key;       // of what is left to chance
        bool joins = true;  // whether a state of the plan is an end
    };

    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    std::optional<size_t> draw_step();
    std::optional<ActionRow> draw_action(size_t step);
    Manner draw_manner(size_t step);
    void go_to(size_t step);
    std::optional<double> complete(size_t step, std::optional<ActionRow> first, Manner manner);
    std::optional<ActionRow> next(const Manner& manner);
    std::optional<ActionRow> planned(std::optional<ActionRow> excluded) const;
    void mark_done(ActionRow action);
    bool take_over(size_t step, double cost);
    void index_plan();
    void forget_trials();

    Guide guide_;
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
    std::vector<Move> way_;
    size_t rest_ = 0;  // the step of the plan that it goes on with
    uint64_t trial_ = 0;
    std::vector<uint64_t> done_in_;  // per step: the last trial that has taken its action
    size_t from_ = 0;                // steps before this one are not of the trial
    std::vector<std::vector<uint8_t>> parity_;  // per predicate and row
    std::vector<StateChange> net_;
};

}  // namespace planlog
