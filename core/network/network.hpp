// A trained network at work: the values of the atoms of a model, kept up to date while
// the model changes.
//
// The value of a derived atom is
//   phi2( sum over rules r that derive it of  H_r * agg over its derivations by r of
//         phi1( sum over positive literals l of the body of  B_r,l * value of l's atom ))
// and that of an input atom, of a relation that no rule of the network derives, is 1.
//
// Values are found when they are asked for. After a change of the model, the atoms that have
// lost or won derivations are out of date, and so are all that are derived from them, directly
// or not; an atom that is up to date needs only such atoms. So what no action depends on is
// never looked at, and what has not changed is not looked at again.
//
// A node stands for all atoms of a relation, in any state, that are derived in the same way:
// by the same rules from atoms of the same nodes. It is found by a fingerprint of these, and
// its value and the products B * value are computed once. States that follow each other, or
// that are met again and again by a search, have most of their nodes in common.
#pragma once

#include <array>
#include <vector>

#include "../model.hpp"

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

class Evaluation {
  public:
    explicit Evaluation(const Network& network);

    // To be called when the model, which tracks its derivations, has changed.
    void update(Model& model);
    // The value of a true atom of a derived relation.
    const float* value(const Model& model, RelationId relation, Row row);
    size_t computed() const { return computed_; }  // atoms looked at since the last update
    uint64_t work() const { return work_; }        // derivations looked at

  private:
    // Of the rules and nodes that an atom is derived from, in any order.
    using Fingerprint = std::array<uint64_t, 2>;
    struct Nodes {  // of one relation
        uint32_t dimension = 1;
        std::vector<float> values;
        std::vector<Fingerprint> fingerprints;
        std::vector<uint32_t> slots;   // open addressing
        std::vector<uint32_t> of_row;  // none if it is out of date

        uint32_t find_or_add(const Fingerprint& fingerprint);
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

    void outdate(const Model& model, RelationId relation, Row row);
    bool is_current(RelationId relation, Row row) const;
    uint32_t node(const Model& model, RelationId relation, Row row);
    void find_nodes(const Model& model, const Component& component);
    template <class Derivations>
    void find_node(const Model& model, RelationId relation, Row row, Derivations each);
    template <class Derivations>
    void compute(Nodes& nodes, Activation activation, Derivations each);
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
    std::vector<Model::Change> rederived_;
    std::vector<std::pair<RelationId, Row>> outdated_;
    uint64_t evaluations_ = 0;  // of the model, when it was last seen
    size_t node_count_ = 0, atom_count_ = 0;
    size_t computed_ = 0;
    uint64_t work_ = 0;
    // Of the value that is being computed: the present rule, its messages together, all rules.
    uint32_t rule_ = 0;
    size_t message_count_ = 0;
    std::vector<float> message_, messages_, total_;
};

}  // namespace planlog
