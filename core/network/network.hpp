// A trained network at work: the values of the atoms of a model, kept up to date while
// the model changes.
//
// The value of a derived atom is
//   phi2( sum over rules r that derive it of  H_r * agg over its derivations by r of
//         phi1( sum over positive literals l of the body of  B_r,l * value of l's atom ))
// and that of an input atom, of a relation that no rule of the network derives, is 1.
//
// Values are found when they are asked for, and kept. After a change of the model, the atoms that
// have lost or won derivations are dirty. Those whose values still serve others are looked at
// again, from the bottom up, and where a value is another one now, what is derived from it is
// dirty as well; the others are forgotten until they are asked for. So what no action depends on is
// not looked at, and neither is what has not changed.
//
// A node stands for all atoms of a relation, in any state, that have the same value, whose products
// B * value are computed once. It is found by a fingerprint of the rules and nodes that an atom is
// derived from; only for a new fingerprint the value is computed. States that follow each other, or
// that are met again and again by a search, have most of their nodes in common. And what is derived
// from an atom whose derivations have changed, but not its value (the maximum of many messages
// seldom does), is the same as before.
#pragma once

#include <array>
#include <vector>

#include "datalog/materialization.hpp"
#include "util/intern_table.hpp"

namespace planlog {

enum class Activation : uint8_t { Identity, Tanh, Sigmoid, Relu, LeakyRelu };
enum class Aggregation : uint8_t { Max, Mean, Sum };

// Stored column by column. Of each column it is known between which rows there is anything but 0:
// networks side by side have matrices that consist of blocks.
struct Matrix {
    struct Span {
        uint32_t first, last;
    };
    uint32_t rows = 0;
    uint32_t columns = 0;
    std::vector<float> data;
    std::vector<Span> spans;

    Matrix() = default;
    Matrix(uint32_t rows, uint32_t columns, std::vector<float> data);

    // result += this * vector
    void add_product(const float* vector, float* result) const;
};

// Weights for the rules of a program.
struct Network {
    struct RuleWeights {
        uint32_t rule;  // in the program
        Matrix head;
        std::vector<Matrix> body;  // one for each positive literal
    };
    const Program* program;
    std::vector<uint32_t> dimensions;  // of the relations; 1 for inputs
    std::vector<RuleWeights> rules;
    Activation message_activation;
    std::vector<Activation> atom_activations;  // per relation
    Aggregation aggregation;

    // Throws std::invalid_argument if the matrices do not fit.
    void check() const;
    // Whether there are weights for the rules of a relation; otherwise it is an input.
    bool derives(RelationId relation) const;
};

class NetworkInference {
  public:
    explicit NetworkInference(const Network& network);

    // To be called when the model, which tracks its derivations, has changed.
    void update(Materialization& materialization);
    // The value of a true atom of a derived relation.
    const float* value(const Materialization& materialization, RelationId relation, Row row);
    size_t computed() const { return computed_; }  // atoms looked at since the last update

  private:
    // Of the rules and nodes that an atom is derived from, in any order.
    using Fingerprint = std::array<uint64_t, 2>;
    struct Nodes {  // of one relation
        uint32_t dimension = 1;
        std::vector<float> values;
        InternTable by_value;
        std::vector<Fingerprint> fingerprints;
        InternTable by_fingerprint;
        std::vector<uint32_t> of_fingerprint;
        std::vector<uint32_t> of_row;   // none if it is not known
        std::vector<uint8_t> is_dirty;  // per row

        size_t count() const { return values.size() / dimension; }
        uint32_t find_or_add(const Fingerprint& fingerprint);
        uint32_t find_or_add(const std::vector<float>& value);
    };
    struct Child {  // a positive literal over a derived relation
        uint32_t literal;
        RelationId relation;
        const Matrix* matrix;
        std::vector<float> products;  // per node
        std::vector<uint8_t> is_known;
    };
    struct RuleData {
        const Network::RuleWeights* weights;
        std::vector<float> constant;  // what the inputs contribute to each message
        std::vector<Child> children;
    };

    bool is_known(RelationId relation, Row row) const;
    void mark_dirty(RelationId relation, Row row);
    void mark_uses_dirty(const Materialization& materialization, AtomRef atom, bool is_within);
    bool is_used(const Materialization& materialization, AtomRef atom) const;
    void recompute_dirty(const Materialization& materialization, uint32_t component);
    uint32_t node(const Materialization& materialization, RelationId relation, Row row);
    void find_nodes(const Materialization& materialization, const Component& component);
    template <class Derivations>
    void find_node(const Materialization& materialization, RelationId relation, Row row,
                   Derivations each);
    template <class Derivations>
    void compute(size_t size, Activation activation, Derivations each);
    const float* product(Child& child, uint32_t node);
    void begin_rule(uint32_t rule);
    void add_message(const Row* body);
    void end_rule();
    void forget();

    const Network* network_;
    std::vector<Component> components_;
    std::vector<uint32_t> component_of_;
    std::vector<RuleData> rules_;
    std::vector<uint32_t> rule_of_;  // program's number -> into `rules_`
    std::vector<Nodes> nodes_;       // per relation
    std::vector<bool> is_derived_;
    std::vector<AtomRef> rederived_;
    std::vector<std::vector<AtomRef>> dirty_;  // per component
    std::vector<uint32_t> former_;             // nodes of those of one
    uint64_t evaluations_ = 0;                 // of the model, when it was last seen
    size_t fingerprint_count_ = 0, atom_count_ = 0;
    size_t computed_ = 0;
    // Of the value that is being computed: the present rule, its messages together, all rules.
    uint32_t rule_ = 0;
    size_t message_count_ = 0;
    std::vector<float> message_, messages_, total_;
};

}  // namespace planlog
