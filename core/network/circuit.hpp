// The computations of a network over many states, each distinct one once.
//
// A node stands for all atoms of a relation, in any state of any task, that are
// derived in the same way: by the same rules, from the same sets (or multisets) of
// messages. A message is a rule with a node for each positive literal of its body.
// Nodes and messages are found bottom-up and numbered by looking them up in tables
// of all that were seen before, so equal numbers mean equal values under all weights.
#pragma once

#include <vector>

#include "datalog/materialization.hpp"

namespace planlog {

// Sequences of numbers, numbered in the order in which they were first seen.
class SequenceTable {
  public:
    // The number of the sequence; a new one if `is_new` or if it was not seen before.
    uint32_t intern(std::span<const uint32_t> sequence, bool is_new = false);
    size_t size() const { return offsets_.size() - 1; }
    std::span<const uint32_t> operator[](uint32_t number) const {
        return std::span(data_).subspan(offsets_[number], offsets_[number + 1] - offsets_[number]);
    }

  private:
    std::vector<uint32_t> data_;
    std::vector<size_t> offsets_{0};
    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_;  // open addressing
};

class Circuit {
  public:
    enum class Sharing : uint8_t { None, Sets, Multisets };

    // `rules` are the numbers of those of the program's rules that belong to the network.
    // Relations that none of them derives are inputs.
    Circuit(const Program& program, std::vector<uint32_t> rules, Sharing sharing);

    // Numbers of the feature vectors of input atoms, in the place of 0: one for each row of
    // `atoms` (which belongs to the task of the states to come).
    struct Features {
        Relation atoms;
        std::vector<uint32_t> numbers;
    };
    void set_features(std::vector<std::optional<Features>> per_relation);

    // Adds the state that the model is at; its first state after others of another task.
    void add(const Materialization& materialization, bool is_first);
    // The node of a true atom of that state.
    uint32_t node(RelationId relation, Row row) const { return nodes_of_[index(relation)][row]; }

    // Nodes of a relation in an order in which they can be computed, step by step.
    struct Part {
        uint32_t rule;                   // into `rules`
        uint32_t width;                  // of the children
        std::vector<uint32_t> children;  // of each message, by its numbers within relations
        std::vector<uint32_t> nodes;     // relative to the step's first
        std::vector<uint32_t> offsets{0};
        std::vector<uint32_t> messages;  // of nodes[i]: from offsets[i] up to offsets[i + 1]
    };
    struct Step {
        RelationId relation;
        uint32_t first, last;
        std::vector<Part> parts;
    };
    // What is needed for the nodes of the output relations. Renumbers the nodes; those given
    // out before are found in `renumbered`.
    std::vector<Step> finish(const std::vector<RelationId>& outputs);
    std::vector<std::vector<uint32_t>> renumbered;  // per relation

    struct Counts {
        uint64_t states = 0, atoms = 0, nodes = 0, ground_messages = 0, messages = 0;
    };
    Counts counts() const { return counts_; }  // nodes and messages: of the last `finish`

  private:
    struct NetworkRule {
        uint32_t number;                    // in the program
        std::vector<uint32_t> positives;    // positions of the positive literals
        std::vector<RelationId> relations;  // of these
        SequenceTable messages;
    };
    struct Nodes {
        // Per node: for each rule, in order, that derives it: the rule, the number of its
        // messages, and these, sorted.
        SequenceTable definitions;
        std::vector<uint32_t> levels;  // above others of the same recursive component
    };
    bool is_derived(RelationId relation) const { return !deriving_[index(relation)].empty(); }
    void read_input(const Materialization& materialization, RelationId relation);
    void add_component(const Materialization& materialization, const Component& component);
    void add_recursive(const Materialization& materialization, const Component& component);
    void note_message(uint32_t rule, const Row* body);
    void add_node(RelationId relation, Row row);
    std::vector<std::vector<uint8_t>> needed_for(const std::vector<RelationId>& outputs) const;
    uint32_t level_of(uint32_t rule, uint32_t message, uint32_t component) const;

    const Program* program_;
    Sharing sharing_;
    std::vector<NetworkRule> rules_;
    std::vector<Component> components_;
    std::vector<uint32_t> component_of_;           // per relation
    std::vector<std::vector<uint32_t>> deriving_;  // per relation: its rules, into `rules_`
    std::vector<uint32_t> rule_of_;                // program's number -> into `rules_`
    std::vector<Nodes> nodes_;                     // per relation
    std::vector<std::optional<Features>> features_;
    std::vector<std::vector<uint32_t>> nodes_of_;         // per relation and row, in the last state
    std::vector<std::pair<uint32_t, uint32_t>> pending_;  // rule and message, of the next node
    std::vector<uint32_t> scratch_;
    Counts counts_;
};

}  // namespace planlog
