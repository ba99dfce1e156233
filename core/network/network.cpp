#include "network/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace planlog {

namespace {

constexpr uint32_t none = UINT32_MAX;
// Fingerprints to keep, besides two for each atom.
constexpr size_t max_fingerprints = size_t{1} << 16;

// The finaliser of SplitMix64: every bit of the result depends on all of the number, so sums of
// results tell sets of numbers apart.
uint64_t scramble(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

uint64_t hash_of(const std::vector<float>& value) {
    uint64_t hash = 0;
    for (float number : value)
        hash = (hash ^ std::bit_cast<uint32_t>(number)) * 0x9e3779b97f4a7c15ULL;
    return scramble(hash);
}

// Loops over vectors are compiled twice; the faster version is used if the processor supports it.
// Both give the same results to the last bit.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(PLANLOG_SANITIZED)
#define PLANLOG_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define PLANLOG_VECTORS
#endif

// e^x to float precision, without branches, so that loops over it become vector code.
inline float exponential(float x) {
    x = std::min(std::max(x, -87.0f), 88.0f);
    constexpr float round = 12582912.0f;  // adding it leaves no digits after the point
    const float n = (x * 1.44269504f + round) - round;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
}

PLANLOG_VECTORS
void activate(Activation activation, float* values, size_t size) {
    switch (activation) {
        case Activation::Identity:
            return;
        case Activation::Tanh:
            for (size_t i = 0; i < size; ++i)
                values[i] = 1.0f - 2.0f / (exponential(2.0f * values[i]) + 1.0f);
            return;
        case Activation::Sigmoid:
            for (size_t i = 0; i < size; ++i) values[i] = 1.0f / (1.0f + exponential(-values[i]));
            return;
        case Activation::Relu:
            for (size_t i = 0; i < size; ++i) values[i] = std::max(values[i], 0.0f);
            return;
        case Activation::LeakyRelu:
            for (size_t i = 0; i < size; ++i)
                values[i] = values[i] < 0 ? 0.01f * values[i] : values[i];
            return;
    }
}

}  // namespace

Matrix::Matrix(uint32_t rows, uint32_t columns, std::vector<float> data)
    : rows(rows), columns(columns), data(std::move(data)) {
    for (uint32_t c = 0; c < columns; ++c) {
        const float* column = this->data.data() + size_t{c} * rows;
        Span span{0, rows};
        while (span.first < span.last && column[span.first] == 0) ++span.first;
        while (span.first < span.last && column[span.last - 1] == 0) --span.last;
        spans.push_back(span);
    }
}

PLANLOG_VECTORS
void Matrix::add_product(const float* vector, float* __restrict result) const {
    const float* column = data.data();
    for (size_t c = 0; c < columns; ++c, column += rows)
        for (size_t r = spans[c].first; r < spans[c].last; ++r) result[r] += column[r] * vector[c];
}

void Network::check() const {
    if (dimensions.size() != structure.component_of.size() ||
        atom_activations.size() != dimensions.size())
        throw std::invalid_argument("a dimension and an activation are needed for each relation");
    for (uint32_t i = 0; i < dimensions.size(); ++i) {
        if (dimensions[i] == 0) throw std::invalid_argument("a dimension is 0");
        const RelationId relation{i};
        if (!structure.is_derived(relation) && dimensions[i] != structure.input_dimension(relation))
            throw std::invalid_argument("the dimension of an input is that of its features, or 1");
    }
    for (size_t r = 0; r < weights.size(); ++r) {
        const auto& [head, body] = structure.rules[r];
        const Matrix& messages = weights[r].head;
        const bool fits =
            messages.rows == dimensions[index(head)] &&
            std::ranges::equal(weights[r].body, body, [&](const Matrix& matrix, auto literal) {
                return matrix.rows == messages.columns &&
                       matrix.columns == dimensions[index(literal.relation)];
            });
        if (!fits) throw std::invalid_argument("the weights of a rule do not fit its literals");
    }
}

NetworkInference::NetworkInference(const Network& network)
    : network_(&network),
      rules_(network.weights.size()),
      nodes_(network.dimensions.size()),
      dirty_(network.structure.components.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].dimension = network.dimensions[i];
    for (size_t r = 0; r < rules_.size(); ++r) {
        const auto& body = network.structure.rules[r].body;
        rules_[r].constant.assign(network.weights[r].head.columns, 0);
        for (size_t l = 0; l < body.size(); ++l) {
            const Matrix& matrix = network.weights[r].body[l];
            const float one = 1;
            if (network.structure.is_derived(body[l].relation) ||
                network.structure.has_features(body[l].relation))
                rules_[r].children.push_back({body[l].position, body[l].relation, &matrix, {}, {}});
            else
                matrix.add_product(&one, rules_[r].constant.data());
        }
    }
}

bool NetworkInference::is_known(RelationId relation, Row row) const {
    const std::vector<uint32_t>& nodes = nodes_[index(relation)].of_row;
    return row < nodes.size() && nodes[row] != none;
}

void NetworkInference::update(Materialization& materialization) {
    materialization_ = &materialization;
    computed_ = 0;
    materialization.take_rederived(rederived_);
    if (fingerprint_count_ > max_fingerprints + 2 * atom_count_) forget();
    if (evaluations_ != materialization.evaluations()) {
        evaluations_ = materialization.evaluations();  // which has renumbered all rows
        for (Nodes& nodes : nodes_) {
            nodes.of_row.clear();
            nodes.is_dirty.clear();
        }
        for (auto& atoms : dirty_) atoms.clear();  // an interrupted update leaves some
        atom_count_ = 0;
        return;
    }
    for (const AtomRef& atom : rederived_) mark_dirty(atom.relation, atom.row);
    for (uint32_t c = 0; c < dirty_.size(); ++c)
        if (!dirty_[c].empty()) recompute_dirty(c);
}

// --- Dirty atoms -------------------------------------------------------------

void NetworkInference::mark_dirty(RelationId relation, Row row) {
    if (index(relation) >= nodes_.size() || !is_known(relation, row)) return;
    if (!network_->structure.is_derived(relation)) return;  // features of a row never change
    uint8_t& is_dirty = nodes_[index(relation)].is_dirty[row];
    if (!is_dirty)
        dirty_[network_->structure.component_of[index(relation)]].push_back({relation, row});
    is_dirty = 1;
}

// Marks the atoms that are derived from an atom: those of its component, or the others.
void NetworkInference::mark_uses_dirty(AtomRef atom, bool is_within) {
    const NetworkStructure& structure = network_->structure;
    const uint32_t component = structure.component_of[index(atom.relation)];
    materialization_->derivations().any_use_of(atom, [&](uint32_t number, Row head_row) {
        const uint32_t rule = structure.find(number);
        if (rule == NetworkStructure::no_rule) return false;
        const RelationId head = structure.rules[rule].head;
        if ((structure.component_of[index(head)] == component) == is_within)
            mark_dirty(head, head_row);
        return false;
    });
}

// Returns whether a known value depends on the value of an atom.
bool NetworkInference::is_used(AtomRef atom) const {
    return materialization_->derivations().any_use_of(atom, [&](uint32_t number, Row head_row) {
        const uint32_t rule = network_->structure.find(number);
        return rule != NetworkStructure::no_rule &&
               is_known(network_->structure.rules[rule].head, head_row);
    });
}

// Recomputes the dirty atoms of a component, after those of the components it depends on.
void NetworkInference::recompute_dirty(uint32_t component) {
    std::vector<AtomRef>& atoms = dirty_[component];
    // The choice of the derivations that count in a cycle depends on all of its atoms.
    if (network_->structure.components[component].recursive)
        for (size_t i = 0; i < atoms.size(); ++i) mark_uses_dirty(atoms[i], true);
    former_.clear();
    for (const AtomRef& atom : atoms) {
        Nodes& nodes = nodes_[index(atom.relation)];
        former_.push_back(std::exchange(nodes.of_row[atom.row], none));
        nodes.is_dirty[atom.row] = 0;
    }
    for (size_t i = 0; i < atoms.size(); ++i) {
        const AtomRef atom = atoms[i];
        if (!materialization_->relation(atom.relation).is_true(atom.row) || !is_used(atom))
            continue;
        if (node(atom.relation, atom.row) != former_[i]) mark_uses_dirty(atom, false);
    }
    atoms.clear();
}

// Drops all nodes, to bound the memory.
void NetworkInference::forget() {
    for (Nodes& nodes : nodes_) {
        nodes.of_row.assign(nodes.of_row.size(), none);
        nodes.values.clear();
        nodes.by_value.clear();
        nodes.fingerprints.clear();
        nodes.by_fingerprint.clear();
        nodes.of_fingerprint.clear();
    }
    for (RuleData& rule : rules_)
        for (Child& child : rule.children) child.is_known.clear();
    fingerprint_count_ = 0;
}

const float* NetworkInference::value(RelationId relation, Row row) {
    const uint32_t number = node(relation, row);
    const Nodes& nodes = nodes_[index(relation)];
    return nodes.values.data() + size_t{number} * nodes.dimension;
}

// --- Nodes -------------------------------------------------------------------

uint32_t NetworkInference::Nodes::find_or_add(const std::vector<float>& value) {
    const uint32_t found = by_value.find_or_add(hash_of(value), [&](uint32_t i) {
        return std::memcmp(&values[size_t{i} * dimension], value.data(),
                           value.size() * sizeof(float)) == 0;
    });
    if (found == count()) values.insert(values.end(), value.begin(), value.end());
    return found;
}

uint32_t NetworkInference::node(RelationId relation, Row row) {
    if (!is_known(relation, row)) {
        const NetworkStructure& structure = network_->structure;
        const uint32_t component = structure.component_of[index(relation)];
        if (structure.has_features(relation))
            set_node(relation, row,
                     nodes_[index(relation)].find_or_add(structure.features(
                         relation, materialization_->relation(relation).values(row),
                         materialization_->numbers())));
        else if (structure.components[component].recursive)
            find_nodes(component);
        else
            find_node(relation, row, [&](auto visit) {
                materialization_->derivations().derivations_of({relation, row}, visit);
            });
    }
    return nodes_[index(relation)].of_row[row];
}

void NetworkInference::set_node(RelationId relation, Row row, uint32_t number) {
    Nodes& nodes = nodes_[index(relation)];
    if (row >= nodes.of_row.size()) {
        atom_count_ += row + 1 - nodes.of_row.size();
        nodes.of_row.resize(row + 1, none);
        nodes.is_dirty.resize(row + 1, 0);
    }
    nodes.of_row[row] = number;
}

// Finds the nodes of all atoms of a recursive component, since they have to be ordered together.
void NetworkInference::find_nodes(uint32_t component) {
    const DerivationOrder order =
        derivation_order(*materialization_, network_->structure, component);
    for (const DerivationOrder::Atom& atom : order.atoms) {
        // The choice of derivations depends only on the atoms that it is derived from, so a known
        // node is still the right one.
        if (is_known(atom.relation, atom.row)) continue;
        find_node(atom.relation, atom.row, [&](auto visit) {
            for (uint32_t d = atom.first; d < atom.last; ++d)
                visit(order.derivations[d].rule, order.derivations[d].body);
        });
    }
}

// Finds the node of an atom whose derivations `each` visits, after those that it is derived from.
template <class Derivations>
void NetworkInference::find_node(RelationId relation, Row row, Derivations each) {
    ++computed_;
    Fingerprint fingerprint{};
    each([&](uint32_t rule, const Row* body) {
        messages_seen_.step();
        Fingerprint message{rule + 1, ~uint64_t{rule}};
        for (const Child& child : rules_[network_->structure.rule_of[rule]].children) {
            const uint32_t used = node(child.relation, body[child.literal]);
            message[0] = message[0] * 0x9e3779b97f4a7c15ULL + used;
            message[1] = message[1] * 0xd6e8feb86659fd93ULL + used;
        }
        for (size_t half = 0; half < 2; ++half) fingerprint[half] += scramble(message[half]);
    });
    Nodes& nodes = nodes_[index(relation)];
    const uint32_t number = nodes.by_fingerprint.find_or_add(
        fingerprint[0], [&](uint32_t i) { return nodes.fingerprints[i] == fingerprint; });
    if (number == nodes.fingerprints.size()) {
        nodes.fingerprints.push_back(fingerprint);
        compute(nodes.dimension, network_->atom_activations[index(relation)], each);
        nodes.of_fingerprint.push_back(nodes.find_or_add(total_));
        ++fingerprint_count_;
    }
    set_node(relation, row, nodes.of_fingerprint[number]);
}

// --- Values ------------------------------------------------------------------

// Computes the value of an atom, of the given size, in `total_`. The nodes of its derivations are
// known, so no other value is computed meanwhile.
template <class Derivations>
void NetworkInference::compute(size_t size, Activation activation, Derivations each) {
    total_.assign(size, 0);
    uint32_t last = none;
    each([&](uint32_t rule, const Row* body) {
        if (rule != last) {
            if (last != none) end_rule();
            rule_ = network_->structure.rule_of[rule];
            message_count_ = 0;
            last = rule;
        }
        add_message(body);
    });
    if (last != none) end_rule();
    activate(activation, total_.data(), total_.size());
}

const float* NetworkInference::product(Child& child, uint32_t node) {
    const Nodes& nodes = nodes_[index(child.relation)];
    const size_t size = child.matrix->rows;
    if (node >= child.is_known.size()) {
        child.is_known.resize(nodes.count(), 0);
        child.products.resize(nodes.count() * size);
    }
    float* product = child.products.data() + node * size;
    if (!child.is_known[node]) {
        child.is_known[node] = 1;
        std::fill_n(product, size, 0.0f);
        child.matrix->add_product(nodes.values.data() + size_t{node} * nodes.dimension, product);
    }
    return product;
}

void NetworkInference::add_message(const Row* body) {
    RuleData& rule = rules_[rule_];
    const size_t size = rule.constant.size();
    message_ = rule.constant;
    for (Child& child : rule.children) {
        const uint32_t node = nodes_[index(child.relation)].of_row[body[child.literal]];
        const float* added = product(child, node);
        for (size_t i = 0; i < size; ++i) message_[i] += added[i];
    }
    // Activations are monotone, so the maximum can be activated instead of each message.
    if (network_->aggregation != Aggregation::Max)
        activate(network_->message_activation, message_.data(), size);
    if (message_count_++ == 0)
        messages_ = message_;
    else if (network_->aggregation == Aggregation::Max)
        for (size_t i = 0; i < size; ++i) messages_[i] = std::max(messages_[i], message_[i]);
    else
        for (size_t i = 0; i < size; ++i) messages_[i] += message_[i];
}

void NetworkInference::end_rule() {
    if (network_->aggregation == Aggregation::Max)
        activate(network_->message_activation, messages_.data(), messages_.size());
    if (network_->aggregation == Aggregation::Mean)
        for (float& value : messages_) value /= static_cast<float>(message_count_);
    network_->weights[rule_].head.add_product(messages_.data(), total_.data());
}

}  // namespace planlog
