#include "network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "derivation_order.hpp"

namespace planlog {

namespace {

constexpr uint32_t none = UINT32_MAX;

// Loops over vectors are compiled twice, and the faster version is taken where the processor
// has it. Both give the same results to the last bit.
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
void add_columns(const float* column, size_t rows, size_t columns, const float* vector,
                 float* __restrict result) {
    for (size_t c = 0; c < columns; ++c, column += rows)
        for (size_t r = 0; r < rows; ++r) result[r] += column[r] * vector[c];
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

void Matrix::add_product(const float* vector, float* result) const {
    add_columns(data.data(), rows, columns, vector, result);
}

void Network::check() const {
    if (dimensions.size() != program->relations().size() ||
        atom_activations.size() != dimensions.size())
        throw std::invalid_argument("a dimension and an activation are needed for each relation");
    for (const RuleWeights& weights : rules) {
        const Rule& rule = program->rules().at(weights.rule);
        size_t positive = 0;
        const auto fits = [](const Matrix& m, uint32_t rows, uint32_t columns) {
            return m.rows == rows && m.columns == columns &&
                   m.data.size() == size_t{rows} * columns;
        };
        bool fit = fits(weights.head, dimensions[index(rule.head)], weights.head.columns);
        for (const BodyLiteral& literal : rule.body) {
            if (literal.negated) continue;
            fit = fit && positive < weights.body.size() &&
                  fits(weights.body[positive], weights.head.columns,
                       dimensions[index(literal.relation)]);
            ++positive;
        }
        if (!fit || positive != weights.body.size())
            throw std::invalid_argument("the weights of a rule do not fit its literals");
    }
}

Evaluation::Evaluation(const Network& network)
    : network_(&network),
      components_(components(*network.program)),
      component_of_(network.dimensions.size()),
      rule_of_(network.program->rules().size(), none),
      values_(network.dimensions.size()),
      is_derived_(network.dimensions.size()),
      has_dirty_(components_.size()) {
    for (uint32_t c = 0; c < components_.size(); ++c)
        for (RelationId relation : components_[c].relations) component_of_[index(relation)] = c;
    for (size_t i = 0; i < values_.size(); ++i) values_[i].dimension = network.dimensions[i];
    for (const Network::RuleWeights& weights : network.rules)
        is_derived_[index(network.program->rules()[weights.rule].head)] = true;
    for (const Network::RuleWeights& weights : network.rules) {
        rule_of_[weights.rule] = static_cast<uint32_t>(rules_.size());
        RuleData& rule = rules_.emplace_back();
        rule.weights = &weights;
        rule.constant.assign(weights.head.columns, 0);
        const auto& body = network.program->rules()[weights.rule].body;
        size_t positive = 0;
        for (uint32_t l = 0; l < body.size(); ++l) {
            if (body[l].negated) continue;
            const Matrix& matrix = weights.body[positive++];
            if (is_derived_[index(body[l].relation)]) {
                rule.children.push_back({l, body[l].relation, &matrix, {}, {}});
            } else {
                const float one = 1;
                matrix.add_product(&one, rule.constant.data());
            }
        }
    }
}

void Evaluation::mark(RelationId relation, Row row) {
    if (!is_derived_[index(relation)]) return;
    Values& values = values_[index(relation)];
    if (row >= values.stamps.size()) {
        values.stamps.resize(row + 1);
        values.is_dirty.resize(row + 1);
        values.data.resize(size_t{row + 1} * values.dimension);
    }
    if (values.is_dirty[row]) return;
    values.is_dirty[row] = 1;
    values.dirty.push_back(row);
    has_dirty_[component_of_[index(relation)]] = true;
}

void Evaluation::mark_all(const Model& model) {
    for (uint32_t i = 0; i < values_.size(); ++i) {
        if (!is_derived_[i]) continue;
        Values& values = values_[i];
        values.data.clear();
        values.stamps.clear();
        values.is_dirty.clear();
        values.dirty.clear();
        for (Row row : model.relation(RelationId(i)).true_rows()) mark(RelationId(i), row);
    }
    for (RuleData& rule : rules_)
        for (Child& child : rule.children) child.stamps.clear();
}

void Evaluation::update(Model& model) {
    computed_ = 0;
    const auto rederived = model.take_rederived();
    if (evaluations_ != model.evaluations()) {
        evaluations_ = model.evaluations();
        mark_all(model);
    } else {
        for (const Model::Change& change : rederived)
            if (index(change.relation) < values_.size()) mark(change.relation, change.row);
    }
    for (uint32_t c = 0; c < components_.size(); ++c)
        if (has_dirty_[c]) update_component(model, c);
}

void Evaluation::update_component(const Model& model, uint32_t c) {
    has_dirty_[c] = false;
    const Component& component = components_[c];
    const auto take = [](Values& values, Row row) {
        const bool dirty = row < values.is_dirty.size() && values.is_dirty[row];
        if (dirty) values.is_dirty[row] = 0;
        return dirty;
    };
    if (!component.recursive) {
        const RelationId relation = component.relations.front();
        Values& values = values_[index(relation)];
        for (Row row : values.dirty)
            if (take(values, row) && model.relation(relation).is_true(row))
                compute(model, relation, row);
        values.dirty.clear();
        return;
    }
    const DerivationOrder order = derivation_order(model, component, component_of_);
    for (const DerivationOrder::Atom& atom : order.atoms) {
        // What is left out in one place may depend on changes elsewhere.
        if (order.goes_round) mark(atom.relation, atom.row);
        if (!take(values_[index(atom.relation)], atom.row)) continue;
        total_.assign(values_[index(atom.relation)].dimension, 0);
        for (uint32_t d = atom.first; d < atom.last; ++d) {
            const auto [rule, body] = order.derivations[d];
            if (d == atom.first || rule != order.derivations[d - 1].rule) {
                if (d != atom.first) end_rule();
                begin_rule(rule_of_[rule]);
            }
            add_message(body);
        }
        if (atom.first != atom.last) end_rule();
        finish_atom(model, atom.relation, atom.row);
    }
    for (RelationId relation : component.relations) {
        Values& values = values_[index(relation)];
        for (Row row : values.dirty) values.is_dirty[row] = 0;  // atoms that are false now
        values.dirty.clear();
    }
    has_dirty_[c] = false;
}

void Evaluation::begin_rule(uint32_t rule) {
    rule_ = rule;
    message_count_ = 0;
    messages_.assign(rules_[rule].constant.size(), 0);
}

void Evaluation::add_message(const Row* body) {
    RuleData& rule = rules_[rule_];
    const size_t size = rule.constant.size();
    message_ = rule.constant;
    for (Child& child : rule.children) {
        const Row row = body[child.literal];
        const Values& values = values_[index(child.relation)];
        if (row >= child.stamps.size()) {
            child.stamps.resize(values.stamps.size(), 0);
            child.products.resize(values.stamps.size() * size);
        }
        float* product = child.products.data() + size_t{row} * size;
        if (child.stamps[row] != values.stamps[row]) {
            child.stamps[row] = values.stamps[row];
            std::fill_n(product, size, 0.0f);
            child.matrix->add_product(values.data.data() + size_t{row} * values.dimension, product);
        }
        for (size_t i = 0; i < size; ++i) message_[i] += product[i];
    }
    // Activations are monotone: the one of the maximum is the maximum of all.
    if (network_->aggregation != Aggregation::Max)
        activate(network_->message_activation, message_.data(), size);
    if (message_count_++ == 0)
        messages_ = message_;
    else if (network_->aggregation == Aggregation::Max)
        for (size_t i = 0; i < size; ++i) messages_[i] = std::max(messages_[i], message_[i]);
    else
        for (size_t i = 0; i < size; ++i) messages_[i] += message_[i];
}

void Evaluation::end_rule() {
    if (network_->aggregation == Aggregation::Max)
        activate(network_->message_activation, messages_.data(), messages_.size());
    if (network_->aggregation == Aggregation::Mean)
        for (float& value : messages_) value /= static_cast<float>(message_count_);
    rules_[rule_].weights->head.add_product(messages_.data(), total_.data());
}

void Evaluation::compute(const Model& model, RelationId relation, Row row) {
    total_.assign(values_[index(relation)].dimension, 0);
    uint32_t last = none;
    model.derivations_of(relation, row, [&](uint32_t rule, const Row* body) {
        if (rule != last) {
            if (last != none) end_rule();
            begin_rule(rule_of_[rule]);
            last = rule;
        }
        add_message(body);
    });
    if (last != none) end_rule();
    finish_atom(model, relation, row);
}

void Evaluation::finish_atom(const Model& model, RelationId relation, Row row) {
    ++computed_;
    activate(network_->atom_activations[index(relation)], total_.data(), total_.size());
    Values& values = values_[index(relation)];
    float* value = values.data.data() + size_t{row} * values.dimension;
    if (values.stamps[row] != 0 && std::equal(total_.begin(), total_.end(), value)) return;
    std::copy(total_.begin(), total_.end(), value);
    ++values.stamps[row];
    model.uses_of(relation, row, [&](uint32_t rule, uint32_t, Row head) {
        if (rule < rule_of_.size() && rule_of_[rule] != none)
            mark(network_->program->rules()[rule].head, head);
    });
}

}  // namespace planlog
