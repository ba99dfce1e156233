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
    const std::vector<Rule>& known = program->rules();
    std::vector<bool> has_weights(known.size());
    for (const RuleWeights& weights : rules) {
        if (weights.rule >= known.size() || has_weights[weights.rule])
            throw std::invalid_argument("weights for no rule, or twice for the same one");
        has_weights[weights.rule] = true;
    }
    for (uint32_t r = 0; r < known.size(); ++r)
        if (!has_weights[r] && derives(known[r].head))
            throw std::invalid_argument("weights for some rules of a relation but not for all");
    for (uint32_t i = 0; i < dimensions.size(); ++i)
        if (dimensions[i] != 1 && !derives(RelationId(i)))
            throw std::invalid_argument("inputs have dimension 1");
    for (const RuleWeights& weights : rules) {
        const Rule& rule = known[weights.rule];
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

bool Network::derives(RelationId relation) const {
    return std::any_of(rules.begin(), rules.end(), [&](const RuleWeights& weights) {
        return program->rules()[weights.rule].head == relation;
    });
}

Evaluation::Evaluation(const Network& network)
    : network_(&network),
      components_(components(*network.program)),
      component_of_(network.dimensions.size()),
      rule_of_(network.program->rules().size(), none),
      values_(network.dimensions.size()),
      is_derived_(network.dimensions.size()) {
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

bool Evaluation::is_current(RelationId relation, Row row) const {
    const Values& values = values_[index(relation)];
    return row < values.is_current.size() && values.is_current[row];
}

// An atom, and all that are derived from it. If it is out of date already, so are they.
void Evaluation::outdate(const Model& model, RelationId relation, Row row) {
    if (index(relation) >= values_.size() || !is_current(relation, row)) return;
    values_[index(relation)].is_current[row] = 0;
    outdated_.assign(1, {relation, row});
    while (!outdated_.empty()) {
        const auto [used, used_row] = outdated_.back();
        outdated_.pop_back();
        model.uses_of(used, used_row, [&](uint32_t rule, uint32_t, Row head_row) {
            if (rule >= rule_of_.size() || rule_of_[rule] == none) return;
            const RelationId head = network_->program->rules()[rule].head;
            if (!is_current(head, head_row)) return;
            values_[index(head)].is_current[head_row] = 0;
            outdated_.emplace_back(head, head_row);
        });
    }
}

void Evaluation::update(Model& model) {
    computed_ = 0;
    const auto rederived = model.take_rederived();
    if (evaluations_ == model.evaluations()) {
        for (const Model::Change& change : rederived) outdate(model, change.relation, change.row);
        return;
    }
    evaluations_ = model.evaluations();  // rows have other numbers now
    for (Values& values : values_) {
        values.data.clear();
        values.stamps.clear();
        values.is_current.clear();
    }
    for (RuleData& rule : rules_)
        for (Child& child : rule.children) child.stamps.clear();
}

const float* Evaluation::value(const Model& model, RelationId relation, Row row) {
    bring_up_to_date(model, relation, row);
    const Values& values = values_[index(relation)];
    return values.data.data() + size_t{row} * values.dimension;
}

// What a derivation needs, but for atoms of one component.
void Evaluation::prepare(const Model& model, uint32_t rule, const Row* body, uint32_t except) {
    for (const Child& child : rules_[rule].children)
        if (component_of_[index(child.relation)] != except)
            bring_up_to_date(model, child.relation, body[child.literal]);
}

void Evaluation::bring_up_to_date(const Model& model, RelationId relation, Row row) {
    if (is_current(relation, row)) return;
    const uint32_t component = component_of_[index(relation)];
    if (components_[component].recursive) return bring_up_to_date(model, components_[component]);
    // First all that it needs: what is computed in between uses the same scratch space.
    model.derivations_of(relation, row, [&](uint32_t rule, const Row* body) {
        prepare(model, rule_of_[rule], body, component);
    });
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
    finish_atom(relation, row);
}

// All atoms of a recursive component, since they have to be put in order together.
void Evaluation::bring_up_to_date(const Model& model, const Component& component) {
    const DerivationOrder order = derivation_order(model, component, component_of_);
    const uint32_t own = component_of_[index(component.relations.front())];
    for (const DerivationOrder::Atom& atom : order.atoms) {
        // Which derivations are left out depends on those of the atoms that it is derived from,
        // so an atom that is up to date stays so.
        if (is_current(atom.relation, atom.row)) continue;
        for (uint32_t d = atom.first; d < atom.last; ++d)
            prepare(model, rule_of_[order.derivations[d].rule], order.derivations[d].body, own);
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
        finish_atom(atom.relation, atom.row);
    }
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

void Evaluation::finish_atom(RelationId relation, Row row) {
    ++computed_;
    activate(network_->atom_activations[index(relation)], total_.data(), total_.size());
    Values& values = values_[index(relation)];
    if (row >= values.stamps.size()) {
        const size_t rows = std::max<size_t>(row + 1, values.stamps.size() * 2);
        values.stamps.resize(rows);
        values.is_current.resize(rows);
        values.data.resize(rows * values.dimension);
    }
    values.is_current[row] = 1;
    float* value = values.data.data() + size_t{row} * values.dimension;
    if (values.stamps[row] != 0 && std::equal(total_.begin(), total_.end(), value)) return;
    std::copy(total_.begin(), total_.end(), value);
    ++values.stamps[row];
}

}  // namespace planlog
