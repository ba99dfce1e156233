// A policy at work in a task: where it is, and how good it finds each action that it derives.
#pragma once

#include <optional>
#include <vector>

#include "network/network.hpp"
#include "planning/walk.hpp"

namespace planlog {

struct ScoredAction {
    ActionRow action;
    float score;
};

class ScoredWalk {
  public:
    // Without a network all actions are equally good.
    ScoredWalk(const Task& task, AtomTable& atoms, const Program& program, const Network* network);
    // Actions have scores from here on.
    void attach(const Network& network);

    Walk& walk() { return walk_; }
    const Walk& walk() const { return walk_; }
    bool has_scores() const { return inference_.has_value(); }
    // What the network makes of the present state; there must be one.
    NetworkInference& inference() { return *inference_; }
    const NetworkInference& inference() const { return *inference_; }
    // The derived actions of the present state with their scores, in any order. They are valid
    // until the walk goes on.
    const std::vector<ScoredAction>& scored();
    // The one with the highest score; of equal ones it depends on the key which. With noise it is
    // drawn: with probabilities in proportion to e^(score / noise). One action may be excluded.
    std::optional<ActionRow> best(uint64_t key, double noise = 0,
                                  std::optional<ActionRow> excluded = std::nullopt);
    // The same, but of equal ones the first by name.
    std::optional<ActionRow> best_by_name();

  private:
    Walk walk_;
    std::optional<NetworkInference> inference_;
    std::vector<ScoredAction> scored_;
};

}  // namespace planlog
