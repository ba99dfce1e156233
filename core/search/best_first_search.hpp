// Best-first search for a plan among the actions that a program derives: complete, with duplicate
// detection. States are bit vectors; each costs a parent, an action and its places in the queues.
//
// Queues with different orders take turns, as in LAMA, so that none of them alone decides:
//   - depth, with rules: the newest state first, and of its siblings the one with the highest
//     score. This follows the policy, and takes back what did not lead on. Without rules it only
//     makes plans longer.
//   - goals: states with a new atom among those with as many goals left first, then those with
//     fewer goals left (best-first width search, Lipovetzky and Geffner 2017).
//   - levels: with a network, the least depth divided by the probability of the path under the
//     softmax of the scores (Levin tree search, Orseau et al. 2018).
// A rule has a level: the number of `prefer` before it. An action whose level is above the least of
// its state is a discrepancy (Harvey and Ginsberg 1995). States with fewer discrepancies on their
// paths come first, except in the queue of goals: a part of the space without a plan may be
// endless.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "network/network.hpp"
#include "planning/successors.hpp"

namespace planlog {

class BestFirstSearch {
  public:
    struct Options {
        std::vector<uint32_t> levels{};    // per rule of the program; none: all 0
        std::optional<RelationId> dead{};  // states in which it holds are left out
        size_t limit = UINT32_MAX - 1;     // of states
        const Network* network = nullptr;
        bool has_rules = true;
    };
    enum class Outcome : uint8_t { Running, Solved, Exhausted, Full };

    BestFirstSearch(const Task& task, AtomTable& atoms, const Program& program,
                    std::span<const AtomId> start, Options options);

    // Adds the states of a path from the start, whose actions are derived.
    void add_path(const std::vector<GroundAction>& path);
    // Expands at most `count` more states.
    Outcome advance(size_t count);

    bool is_solved() const { return goal_.has_value(); }
    std::vector<GroundAction> plan() const;  // of a solved search
    size_t states() const { return successors_.states().size(); }
    size_t expanded() const { return expanded_; }
    size_t dead() const { return dead_; }  // of the expanded states
    size_t state_size() const { return successors_.states().width() * sizeof(uint64_t); }
    // Bytes of the states, their nodes and the queues.
    size_t memory() const;

  private:
    struct Node {
        uint32_t parent;
        uint32_t action;
        uint16_t discrepancies;
        bool is_expanded;
    };
    struct Entry {
        uint64_t key;  // the least comes first
        uint32_t state;
        bool operator<(const Entry& other) const {
            return key != other.key ? key > other.key : state > other.state;
        }
    };
    using Stack = std::vector<uint32_t>;
    struct Bucket {  // first in, first out
        std::vector<uint32_t> states{};
        size_t taken = 0;
    };

    void expand(uint32_t state);
    void rank_actions();
    void find_probabilities();
    uint32_t level(ActionRow action);
    bool add_child(uint32_t state, ActionRow action, uint32_t discrepancy, double log_probability);
    uint32_t enqueue(uint32_t state, double log_probability);  // returns the number of goals left
    uint32_t goals_left(uint32_t state);
    bool is_novel(uint32_t state, uint32_t left);
    std::optional<uint32_t> pop();
    std::optional<uint32_t> pop_deepest();
    std::optional<uint32_t> pop_by_goals();
    void find_goal_atoms();

    struct Goal {
        PredicateId predicate;
        std::vector<ObjectId> values;
        bool wanted;
    };
    struct Ranked {
        ActionRow action;
        uint32_t level;
        float score;
        double log_probability;
    };

    Successors successors_;
    Options options_;
    std::optional<NetworkInference> inference_;
    std::vector<Node> nodes_;               // per state
    std::vector<float> log_probabilities_;  // per state, with a network
    std::vector<uint32_t> depths_;          // likewise
    std::vector<Stack> stacks_;             // per number of discrepancies: the newest state last
    std::array<std::vector<Bucket>, 2> by_goals_;  // novel or not; per number of goals left
    std::vector<Entry> by_level_;                  // a heap
    std::vector<std::vector<uint64_t>> seen_;  // per number of goals left: the atoms of its states
    std::vector<Goal> goals_;                  // whose atoms have not been met
    std::vector<uint64_t> wanted_, unwanted_;  // bits of the atoms of the others
    size_t atoms_known_ = 0;                   // of the states, when goals were looked for
    bool has_unwanted_ = false;                // goals that are negations
    bool has_other_goals_ = false;             // which the bits of a state do not tell
    std::vector<Ranked> ranked_;
    StepCounter steps_;
    uint32_t turn_ = 0;
    size_t expanded_ = 0, dead_ = 0;
    bool is_full_ = false;
    std::optional<uint32_t> goal_;
};

}  // namespace planlog
