// Circuits: the computations of a network over many states, each distinct one once (lifting;
// Sourek, Zelezny and Kuzelka, "Lossless compression of structured convolutional models via
// lifting", ICLR 2021).
//
// A message is a rule with a node for each positive literal of its body. A node stands for all
// atoms of a relation, in any state of any task, that the same rules derive from the same sets (or
// multisets) of messages. Nodes and messages are interned bottom-up (hash consing), so equal
// numbers mean equal values under all weights.
#pragma once

#include <optional>
#include <vector>

#include "datalog/materialization.hpp"
#include "network/structure.hpp"
#include "util/intern_table.hpp"

namespace planlog {

// Sequences of numbers, numbered in the order in which they were first seen.
class SequenceTable {
  public:
    // Returns the number of the sequence: a new one if `is_new`, which must hold always or never,
    // or if it was not seen before.
    uint32_t intern(std::span<const uint32_t> sequence, bool is_new);
    size_t size() const { return offsets_.size() - 1; }
    std::span<const uint32_t> operator[](uint32_t number) const {
        return std::span(data_).subspan(offsets_[number], offsets_[number + 1] - offsets_[number]);
    }

  private:
    std::vector<uint32_t> data_;
    std::vector<size_t> offsets_{0};
    InternTable table_;
};

class Circuit {
  public:
    // The criterion by which atoms are the same node.
    enum class Sharing : uint8_t { None, Sets, Multisets };

    // `rules` are the numbers of the network's rules in the program; see NetworkStructure.
    Circuit(const Program& program, const std::vector<uint32_t>& rules, Sharing sharing,
            const std::vector<uint32_t>& with_features);

    const NetworkStructure& structure() const { return structure_; }

    // Feature vectors that the caller gives to input atoms of a task: their numbers,
    // `numbers[row]` for each row of `atoms`.
    struct Features {
        Relation atoms;
        std::vector<uint32_t> numbers;
    };
    using FeaturesOfRelations = std::vector<std::optional<Features>>;  // none: all have vector 0

    // Adds the state of the materialization. Static relations are read only if this is the first
    // state of a task after states of others, or the first with these features.
    void add(const Materialization& materialization, const FeaturesOfRelations& features,
             bool is_first);
    // The node of a true atom of that state.
    uint32_t node(RelationId relation, Row row) const { return nodes_of_[index(relation)][row]; }

    // The messages of one rule to nodes of a layer.
    struct RuleMessages {
        uint32_t rule;                     // into the rules of the network
        uint32_t count = 0;                // of distinct messages
        std::vector<uint32_t> children{};  // of each message, numbered within their relations
        std::vector<uint32_t> nodes{};     // relative to the layer's first
        std::vector<uint32_t> offsets{0};
        std::vector<uint32_t> messages{};  // to nodes[i]: from offsets[i] up to offsets[i + 1]
    };
    // Nodes of a relation that can be computed from nodes of earlier layers.
    struct Layer {
        RelationId relation;
        uint32_t first, last;
        std::vector<RuleMessages> rules;
    };
    // Returns the computation of the output relations' nodes. Renumbers the nodes: `renumbered`
    // has the final number of each node that `node` has returned.
    std::vector<Layer> finish(const std::vector<RelationId>& outputs);
    std::vector<std::vector<uint32_t>> renumbered;  // per relation

    struct Counts {
        uint64_t states = 0, atoms = 0, nodes = 0, ground_messages = 0, messages = 0;
    };
    Counts counts() const { return counts_; }  // nodes and messages: of the last `finish`
    // The feature vectors of the nodes of a relation that has features, one after the other.
    std::vector<float> features(RelationId relation) const;

  private:
    struct Nodes {
        // Per node: for each rule that derives it, in order, the rule, the number of its messages,
        // and these, sorted.
        SequenceTable definitions;
        std::vector<uint32_t> levels;  // above other nodes of the same recursive component
    };
    void read_input(const Materialization& materialization, RelationId relation,
                    const std::optional<Features>& features);
    void add_message(uint32_t rule, const Row* body);
    void add_node(RelationId relation, Row row);
    uint32_t level_of_pending(uint32_t component) const;
    std::vector<std::vector<uint8_t>> needed_for(const std::vector<RelationId>& outputs) const;
    Layer layer_of(RelationId relation, uint32_t first, const std::vector<uint32_t>& nodes) const;

    NetworkStructure structure_;
    Sharing sharing_;
    std::vector<SequenceTable> messages_;                 // per rule of the network
    std::vector<Nodes> nodes_;                            // per relation
    std::vector<SequenceTable> features_;                 // per relation: the bits of each float
    std::vector<std::vector<uint32_t>> nodes_of_;         // per relation and row, in the last state
    std::vector<std::pair<uint32_t, uint32_t>> pending_;  // rule and message, of the next node
    std::vector<uint32_t> scratch_;
    Counts counts_;
};

}  // namespace planlog
