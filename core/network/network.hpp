// Inference with a trained network: the values of the atoms of a materialization, kept up to date
// while it changes (lifted relational neural networks; Sourek et al., JAIR 62, 2018).
//
// The value of a derived atom is
//   phi2( sum over rules r that derive it of  H_r * agg over its derivations by r of
//         phi1( sum over positive literals l of the body of  B_r,l * value of l's atom ))
// and that of an input atom, of a relation that no rule of the network derives, is 1 or the vector
// of its features.
//
// Values are computed on demand and kept. After a change of the materialization, the atoms that
// have lost or won derivations are dirty. Dirty atoms whose values others use are recomputed
// bottom-up; where a value has changed, the atoms derived from it become dirty as well. Other dirty
// atoms are forgotten until they are asked for. So the cost depends on the atoms that scores depend
// on and that have changed.
//
// A node stands for all atoms of a relation, in any state, that have the same value; its products
// B * value are computed once. It is found by a fingerprint of the rules and nodes that an atom is
// derived from; the value is computed for new fingerprints only. Successive states, and those that
// a search visits again, have most of their nodes in common. An atom whose derivations have changed
// often keeps its value (the maximum of many messages), and then nothing derived from it changes.
#pragma once

#include <array>
#include <vector>

#include "datalog/materialization.hpp"
#include "network/structure.hpp"
#include "util/intern_table.hpp"

namespace planlog {

enum class Activation : uint8_t { Identity, Tanh, Sigmoid, Relu, LeakyRelu };
enum class Aggregation : uint8_t { Max, Mean, Sum };

// Stored by columns. `spans` are the rows of each column between its first and its last value other
// than 0: ensembles have block matrices.
struct Matrix {
    struct Span {
        uint32_t first, last;
    };
    uint32_t rows;
    uint32_t columns;
    std::vector<float> data;
    std::vector<Span> spans;

    Matrix(uint32_t rows, uint32_t columns, std::vector<float> data);

    // result += this * vector
    void add_product(const float* vector, float* result) const;
};

struct Network {
    struct RuleWeights {
        Matrix head;
        std::vector<Matrix> body;  // one for each positive literal
    };
    NetworkStructure structure;
    std::vector<RuleWeights> weights;  // per rule of the structure
    std::vector<uint32_t> dimensions;  // of the relations
    Activation message_activation;
    std::vector<Activation> atom_activations;  // per relation
    Aggregation aggregation;

    // Throws std::invalid_argument if the matrices do not fit.
    void check() const;
};

class NetworkInference {
  public:
    explicit NetworkInference(const Network& network);

    // Must be called after each change of the materialization, which tracks its derivations.
    void update(Materialization& materialization);
    // The value of a true atom of a relation that is derived or has features, at the last update.
    const float* value(RelationId relation, Row row);
    size_t computed() const { return computed_; }  // atoms since the last update

  private:
    // A hash of the set of rules and nodes that an atom is derived from.
    using Fingerprint = std::array<uint64_t, 2>;
    struct Nodes {  // of one relation
        uint32_t dimension = 1;
        std::vector<float> values;
        InternTable by_value;
        std::vector<Fingerprint> fingerprints;
        InternTable by_fingerprint;
        std::vector<uint32_t> of_fingerprint;
        std::vector<uint32_t> of_row;   // none if unknown
        std::vector<uint8_t> is_dirty;  // per row

        size_t count() const { return values.size() / dimension; }
        uint32_t find_or_add(const std::vector<float>& value);
    };
    struct Child {  // a positive literal over a relation whose atoms differ in their values
        uint32_t literal;
        RelationId relation;
        const Matrix* matrix;
        std::vector<float> products;  // per node
        std::vector<uint8_t> is_known;
    };
    struct RuleData {
        std::vector<float> constant;  // contribution of the other inputs to each message
        std::vector<Child> children;
    };

    bool is_known(RelationId relation, Row row) const;
    void mark_dirty(RelationId relation, Row row);
    void mark_uses_dirty(AtomRef atom, bool is_within);
    bool is_used(AtomRef atom) const;
    void recompute_dirty(uint32_t component);
    uint32_t node(RelationId relation, Row row);
    void set_node(RelationId relation, Row row, uint32_t number);
    void find_nodes(uint32_t component);
    template <class Derivations>
    void find_node(RelationId relation, Row row, Derivations each);
    template <class Derivations>
    void compute(size_t size, Activation activation, Derivations each);
    const float* product(Child& child, uint32_t node);
    void add_message(const Row* body);
    void end_rule();
    void forget();

    const Network* network_;
    const Materialization* materialization_ = nullptr;  // of the last update
    std::vector<RuleData> rules_;                       // per rule of the network
    std::vector<Nodes> nodes_;                          // per relation
    std::vector<AtomRef> rederived_;
    std::vector<std::vector<AtomRef>> dirty_;  // per component
    std::vector<uint32_t> former_;             // nodes of a component's dirty atoms
    uint64_t evaluations_ = 0;                 // of the materialization, at the last update
    size_t fingerprint_count_ = 0, atom_count_ = 0;
    size_t computed_ = 0;
    StepCounter messages_seen_;
    // The value in progress: the current rule, its aggregated messages, the sum over rules.
    uint32_t rule_ = 0;
    size_t message_count_ = 0;
    std::vector<float> message_, messages_, total_;
};

}  // namespace planlog
