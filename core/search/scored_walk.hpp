// A walk whose derived actions have scores: the values of their atoms in a network.
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
    // Without a network all scores are 0.
    ScoredWalk(const Task& task, AtomTable& atoms, const Program& program, const Network* network);

    Walk& walk() { return walk_; }
    const Walk& walk() const { return walk_; }
    bool has_scores() const { return inference_.has_value(); }
    NetworkInference& inference() { return *inference_; }  // there must be a network
    // The derived actions with their scores, in any order, valid until the state changes.
    const std::vector<ScoredAction>& scored();
    // Returns the action with the highest score; the key breaks ties. With noise, samples an action
    // with probability proportional to e^(score / noise). One action may be excluded.
    std::optional<ActionRow> best(uint64_t key, double noise = 0,
                                  std::optional<ActionRow> excluded = std::nullopt);
    // Returns the first by name of the actions with the highest score.
    std::optional<ActionRow> best_by_name();

  private:
    Walk walk_;
    std::optional<NetworkInference> inference_;
    std::vector<ScoredAction> scored_;
};

}  // namespace planlog
