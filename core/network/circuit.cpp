#include "network/circuit.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace planlog {

namespace {

constexpr uint32_t none = UINT32_MAX;

}  // namespace

uint32_t SequenceTable::intern(std::span<const uint32_t> sequence, bool is_new) {
    auto number = static_cast<uint32_t>(size());
    if (!is_new) {
        number = table_.find_or_add(hash_of(sequence.data(), sequence.size()), [&](uint32_t other) {
            return std::ranges::equal((*this)[other], sequence);
        });
        if (number < size()) return number;
    }
    data_.insert(data_.end(), sequence.begin(), sequence.end());
    offsets_.push_back(data_.size());
    return number;
}

Circuit::Circuit(const Program& program, const std::vector<uint32_t>& rules, Sharing sharing,
                 const std::vector<uint32_t>& with_features)
    : structure_(program, rules, with_features),
      sharing_(sharing),
      messages_(rules.size()),
      nodes_(program.relations().size()),
      features_(program.relations().size()),
      nodes_of_(program.relations().size()) {}

// --- States ------------------------------------------------------------------

void Circuit::add(const Materialization& materialization, const FeaturesOfRelations& features,
                  bool is_first) {
    ++counts_.states;
    for (uint32_t c = 0; c < structure_.components.size(); ++c) {
        const Component& component = structure_.components[c];
        const RelationId first = component.relations.front();
        // A component has static relations only, or none.
        if (!is_first && materialization.is_static(first)) continue;
        if (!structure_.is_derived(first)) {
            for (RelationId id : component.relations)
                read_input(materialization, id, features[index(id)]);
            continue;
        }
        for (RelationId id : component.relations)
            nodes_of_[index(id)].assign(materialization.relation(id).row_count(), none);
        if (component.recursive) {
            const DerivationOrder order = derivation_order(materialization, structure_, c);
            for (const DerivationOrder::Atom& atom : order.atoms) {
                for (uint32_t d = atom.first; d < atom.last; ++d)
                    add_message(order.derivations[d].rule, order.derivations[d].body);
                add_node(atom.relation, atom.row);
            }
        } else {
            for (Row row : materialization.relation(first).true_rows()) {
                materialization.derivations().derivations_of(
                    {first, row}, [&](uint32_t rule, const Row* body) { add_message(rule, body); });
                add_node(first, row);
            }
        }
    }
}

void Circuit::read_input(const Materialization& materialization, RelationId id,
                         const std::optional<Features>& features) {
    const Relation& relation = materialization.relation(id);
    auto& nodes = nodes_of_[index(id)];
    nodes.assign(relation.row_count(), 0);
    if (structure_.has_features(id)) {
        for (Row row : relation.true_rows()) {
            scratch_.clear();
            for (float value :
                 structure_.features(id, relation.values(row), materialization.numbers()))
                scratch_.push_back(std::bit_cast<uint32_t>(value));
            nodes[row] = features_[index(id)].intern(scratch_, false);
        }
    }
    if (!features) return;
    for (Row row : relation.true_rows()) {
        const Row found = features->atoms.find(relation.values(row));
        if (found == no_row) throw std::invalid_argument("an atom has no features");
        nodes[row] = features->numbers[found];
    }
}

std::vector<float> Circuit::features(RelationId relation) const {
    std::vector<float> result;
    const SequenceTable& vectors = features_[index(relation)];
    for (uint32_t node = 0; node < vectors.size(); ++node)
        for (uint32_t bits : vectors[node]) result.push_back(std::bit_cast<float>(bits));
    return result;
}

// Adds a message to the node that is added next.
void Circuit::add_message(uint32_t number, const Row* body) {
    const uint32_t rule = structure_.rule_of[number];
    ++counts_.ground_messages;
    scratch_.clear();
    for (const auto& [position, relation] : structure_.rules[rule].body)
        scratch_.push_back(node(relation, body[position]));
    pending_.emplace_back(rule, messages_[rule].intern(scratch_, sharing_ == Sharing::None));
}

void Circuit::add_node(RelationId relation, Row row) {
    ++counts_.atoms;
    std::sort(pending_.begin(), pending_.end());
    if (sharing_ == Sharing::Sets)
        pending_.erase(std::unique(pending_.begin(), pending_.end()), pending_.end());
    scratch_.clear();
    size_t count_at = 0;
    for (size_t i = 0; i < pending_.size(); ++i) {
        if (i == 0 || pending_[i].first != pending_[i - 1].first) {
            scratch_.push_back(pending_[i].first);
            count_at = scratch_.size();
            scratch_.push_back(0);
        }
        ++scratch_[count_at];
        scratch_.push_back(pending_[i].second);
    }
    Nodes& nodes = nodes_[index(relation)];
    const uint32_t node = nodes.definitions.intern(scratch_, sharing_ == Sharing::None);
    nodes_of_[index(relation)][row] = node;
    if (node == nodes.levels.size())
        nodes.levels.push_back(level_of_pending(structure_.component_of[index(relation)]));
    pending_.clear();
}

// Returns 1 + the highest level of a child in the same component; 0 if there is none.
uint32_t Circuit::level_of_pending(uint32_t component) const {
    uint32_t level = 0;
    if (!structure_.components[component].recursive) return level;
    for (const auto& [rule, message] : pending_) {
        const auto& body = structure_.rules[rule].body;
        const auto children = messages_[rule][message];
        for (size_t i = 0; i < children.size(); ++i)
            if (const uint32_t relation = index(body[i].relation);
                structure_.component_of[relation] == component)
                level = std::max(level, nodes_[relation].levels[children[i]] + 1);
    }
    return level;
}

// --- The result --------------------------------------------------------------

// Per relation and node: whether the value of an output depends on it.
std::vector<std::vector<uint8_t>> Circuit::needed_for(
    const std::vector<RelationId>& outputs) const {
    std::vector<std::vector<uint8_t>> needed(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) needed[i].assign(nodes_[i].levels.size(), 0);
    std::vector<std::pair<RelationId, uint32_t>> queue;
    const auto need = [&](RelationId relation, uint32_t node) {
        if (!structure_.is_derived(relation) || needed[index(relation)][node]) return;
        needed[index(relation)][node] = 1;
        queue.emplace_back(relation, node);
    };
    for (RelationId output : outputs)
        for (uint32_t node = 0; node < needed[index(output)].size(); ++node) need(output, node);
    for (size_t i = 0; i < queue.size(); ++i) {
        const auto definition = nodes_[index(queue[i].first)].definitions[queue[i].second];
        for (size_t at = 0; at < definition.size(); at += 2 + definition[at + 1]) {
            const auto& body = structure_.rules[definition[at]].body;
            for (uint32_t message : definition.subspan(at + 2, definition[at + 1]))
                for (size_t k = 0; k < body.size(); ++k)
                    need(body[k].relation, messages_[definition[at]][message][k]);
        }
    }
    return needed;
}

std::vector<Circuit::Layer> Circuit::finish(const std::vector<RelationId>& outputs) {
    const auto needed = needed_for(outputs);
    counts_.nodes = counts_.messages = 0;
    renumbered.assign(nodes_.size(), {});
    std::vector<uint32_t> next(nodes_.size());  // final number of a relation's next node
    std::vector<Layer> layers;
    for (const Component& component : structure_.components) {
        if (!structure_.is_derived(component.relations.front())) continue;
        uint32_t levels = 0;
        for (RelationId id : component.relations) {
            const auto& of_nodes = nodes_[index(id)].levels;
            renumbered[index(id)].assign(of_nodes.size(), none);
            for (uint32_t level : of_nodes) levels = std::max(levels, level + 1);
        }
        for (uint32_t level = 0; level < levels; ++level) {
            for (RelationId id : component.relations) {
                std::vector<uint32_t> members;
                for (uint32_t node = 0; node < needed[index(id)].size(); ++node)
                    if (needed[index(id)][node] && nodes_[index(id)].levels[node] == level)
                        members.push_back(node);
                if (members.empty()) continue;
                const uint32_t first = next[index(id)];
                for (uint32_t node : members) renumbered[index(id)][node] = next[index(id)]++;
                layers.push_back(layer_of(id, first, members));
                counts_.nodes += members.size();
                for (const RuleMessages& rule : layers.back().rules) counts_.messages += rule.count;
            }
        }
    }
    return layers;
}

// Messages that other layers use as well are computed again there.
Circuit::Layer Circuit::layer_of(RelationId relation, uint32_t first,
                                 const std::vector<uint32_t>& nodes) const {
    Layer layer{relation, first, first + static_cast<uint32_t>(nodes.size()), {}};
    std::vector<std::vector<uint32_t>> number_of;  // per rule and message, within the layer
    for (uint32_t rule : structure_.deriving[index(relation)]) {
        layer.rules.push_back({rule});
        number_of.emplace_back(messages_[rule].size(), none);
    }
    for (uint32_t n = 0; n < nodes.size(); ++n) {
        const auto definition = nodes_[index(relation)].definitions[nodes[n]];
        size_t r = 0;  // definitions list rules in order
        for (size_t at = 0; at < definition.size(); at += 2 + definition[at + 1]) {
            while (layer.rules[r].rule != definition[at]) ++r;
            RuleMessages& rule = layer.rules[r];
            const auto& body = structure_.rules[rule.rule].body;
            rule.nodes.push_back(n);
            for (uint32_t message : definition.subspan(at + 2, definition[at + 1])) {
                uint32_t& number = number_of[r][message];
                if (number == none) {
                    number = rule.count++;
                    const auto children = messages_[rule.rule][message];
                    for (size_t i = 0; i < children.size(); ++i)
                        rule.children.push_back(
                            structure_.is_derived(body[i].relation)
                                ? renumbered[index(body[i].relation)][children[i]]
                                : children[i]);
                }
                rule.messages.push_back(number);
            }
            rule.offsets.push_back(static_cast<uint32_t>(rule.messages.size()));
        }
    }
    std::erase_if(layer.rules, [](const RuleMessages& rule) { return rule.nodes.empty(); });
    return layer;
}

}  // namespace planlog
