#include "network/circuit.hpp"

#include <algorithm>

#include "network/derivation_order.hpp"

namespace planlog {

namespace {

constexpr uint32_t none = UINT32_MAX;

}  // namespace

// --- Sequences ---------------------------------------------------------------

uint32_t SequenceTable::intern(std::span<const uint32_t> sequence, bool is_new) {
    uint64_t hash = sequence.size();
    for (uint32_t value : sequence) hash = mix(hash * 0x9e3779b97f4a7c15ULL + value + 1);
    const auto number = static_cast<uint32_t>(size());
    if (!is_new) {
        if (size() * 2 >= slots_.size()) {
            slots_.assign(std::max<size_t>(64, slots_.size() * 2), none);
            for (uint32_t i = 0; i < size(); ++i) {
                size_t slot = hashes_[i] & (slots_.size() - 1);
                while (slots_[slot] != none) slot = (slot + 1) & (slots_.size() - 1);
                slots_[slot] = i;
            }
        }
        size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1)) {
            const uint32_t other = slots_[slot];
            if (hashes_[other] == hash && std::ranges::equal((*this)[other], sequence))
                return other;
        }
        slots_[slot] = number;
    }
    data_.insert(data_.end(), sequence.begin(), sequence.end());
    offsets_.push_back(data_.size());
    hashes_.push_back(hash);
    return number;
}

// --- Circuit -----------------------------------------------------------------

Circuit::Circuit(const Program& program, std::vector<uint32_t> rules, Sharing sharing)
    : program_(&program),
      sharing_(sharing),
      components_(components(program)),
      component_of_(program.relations().size()),
      deriving_(program.relations().size()),
      rule_of_(program.rules().size(), none),
      nodes_(program.relations().size()),
      features_(program.relations().size()),
      nodes_of_(program.relations().size()) {
    for (uint32_t c = 0; c < components_.size(); ++c)
        for (RelationId relation : components_[c].relations) component_of_[index(relation)] = c;
    for (uint32_t number : rules) {
        const Rule& rule = program.rules().at(number);
        rule_of_[number] = static_cast<uint32_t>(rules_.size());
        deriving_[index(rule.head)].push_back(static_cast<uint32_t>(rules_.size()));
        NetworkRule& added = rules_.emplace_back();
        added.number = number;
        for (uint32_t l = 0; l < rule.body.size(); ++l) {
            if (rule.body[l].negated) continue;
            added.positives.push_back(l);
            added.relations.push_back(rule.body[l].relation);
        }
    }
}

void Circuit::set_features(std::vector<std::optional<Features>> per_relation) {
    features_ = std::move(per_relation);
    features_.resize(nodes_.size());
}

void Circuit::add(const Materialization& materialization, bool is_first) {
    ++counts_.states;
    for (const Component& component : components_) {
        // A component has static relations only, or none.
        if (!is_first && materialization.is_static(component.relations.front())) continue;
        if (!is_derived(component.relations.front()))
            for (RelationId relation : component.relations) read_input(materialization, relation);
        else if (component.recursive)
            add_recursive(materialization, component);
        else
            add_component(materialization, component);
    }
}

void Circuit::read_input(const Materialization& materialization, RelationId id) {
    const Relation& relation = materialization.relation(id);
    auto& nodes = nodes_of_[index(id)];
    nodes.assign(relation.row_count(), 0);
    const auto& features = features_[index(id)];
    if (!features) return;
    for (Row row = 0; row < relation.row_count(); ++row) {
        if (!relation.is_true(row)) continue;
        const Row found = features->atoms.find(relation.values(row));
        if (found == no_row) throw std::invalid_argument("an atom has no features");
        nodes[row] = features->numbers[found];
    }
}

void Circuit::add_component(const Materialization& materialization, const Component& component) {
    const RelationId id = component.relations.front();  // not recursive: there is but one
    const Relation& relation = materialization.relation(id);
    nodes_of_[index(id)].assign(relation.row_count(), none);
    for (Row row = 0; row < relation.row_count(); ++row) {
        if (!relation.is_true(row)) continue;
        materialization.derivations().derivations_of(
            {id, row},
            [&](uint32_t number, const Row* body) { note_message(rule_of_[number], body); });
        add_node(id, row);
    }
}

void Circuit::add_recursive(const Materialization& materialization, const Component& component) {
    for (RelationId id : component.relations)
        nodes_of_[index(id)].assign(materialization.relation(id).row_count(), none);
    const DerivationOrder order = derivation_order(materialization, component, component_of_);
    for (const DerivationOrder::Atom& atom : order.atoms) {
        for (uint32_t d = atom.first; d < atom.last; ++d)
            note_message(rule_of_[order.derivations[d].rule], order.derivations[d].body);
        add_node(atom.relation, atom.row);
    }
}

void Circuit::note_message(uint32_t number, const Row* body) {
    NetworkRule& rule = rules_[number];
    ++counts_.ground_messages;
    scratch_.clear();
    for (size_t i = 0; i < rule.positives.size(); ++i)
        scratch_.push_back(nodes_of_[index(rule.relations[i])][body[rule.positives[i]]]);
    pending_.emplace_back(number, rule.messages.intern(scratch_, sharing_ == Sharing::None));
}

// The node of an atom whose messages have been noted.
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
    if (node == nodes.levels.size()) {
        uint32_t level = 0;
        if (components_[component_of_[index(relation)]].recursive)
            for (const auto& [rule, message] : pending_)
                level = std::max(level, level_of(rule, message, component_of_[index(relation)]));
        nodes.levels.push_back(level);
    }
    pending_.clear();
}

// One above the highest child of the same component.
uint32_t Circuit::level_of(uint32_t number, uint32_t message, uint32_t component) const {
    const NetworkRule& rule = rules_[number];
    const auto children = rule.messages[message];
    uint32_t level = 0;
    for (size_t i = 0; i < children.size(); ++i) {
        const uint32_t relation = index(rule.relations[i]);
        if (component_of_[relation] == component)
            level = std::max(level, nodes_[relation].levels[children[i]] + 1);
    }
    return level;
}

// Per relation and node: whether the value of an output depends on it.
std::vector<std::vector<uint8_t>> Circuit::needed_for(
    const std::vector<RelationId>& outputs) const {
    std::vector<std::vector<uint8_t>> needed(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) needed[i].assign(nodes_[i].levels.size(), 0);
    std::vector<std::pair<uint32_t, uint32_t>> queue;
    const auto need = [&](uint32_t relation, uint32_t node) {
        if (deriving_[relation].empty() || needed[relation][node]) return;
        needed[relation][node] = 1;
        queue.emplace_back(relation, node);
    };
    for (RelationId output : outputs)
        for (uint32_t node = 0; node < needed[index(output)].size(); ++node)
            need(index(output), node);
    for (size_t i = 0; i < queue.size(); ++i) {
        const auto definition = nodes_[queue[i].first].definitions[queue[i].second];
        for (size_t at = 0; at < definition.size(); at += 2 + definition[at + 1]) {
            const NetworkRule& rule = rules_[definition[at]];
            for (uint32_t message : definition.subspan(at + 2, definition[at + 1]))
                for (size_t k = 0; k < rule.relations.size(); ++k)
                    need(index(rule.relations[k]), rule.messages[message][k]);
        }
    }
    return needed;
}

std::vector<Circuit::Step> Circuit::finish(const std::vector<RelationId>& outputs) {
    const auto needed = needed_for(outputs);
    counts_.nodes = counts_.messages = 0;
    renumbered.assign(nodes_.size(), {});
    std::vector<Step> steps;
    std::vector<std::vector<uint32_t>> part_messages(rules_.size());  // -> number in the part
    for (size_t r = 0; r < rules_.size(); ++r)
        part_messages[r].assign(rules_[r].messages.size(), none);
    for (const Component& component : components_) {
        if (!is_derived(component.relations.front())) continue;
        uint32_t levels = 1;
        for (RelationId id : component.relations)
            for (uint32_t level : nodes_[index(id)].levels) levels = std::max(levels, level + 1);
        for (RelationId id : component.relations)
            renumbered[index(id)].assign(nodes_[index(id)].levels.size(), none);
        std::vector<uint32_t> next(component.relations.size());
        for (uint32_t level = 0; level < levels; ++level) {
            for (size_t k = 0; k < component.relations.size(); ++k) {
                const RelationId id = component.relations[k];
                const Nodes& nodes = nodes_[index(id)];
                Step step{id, next[k], next[k], {}};
                std::vector<uint32_t> members;
                for (uint32_t node = 0; node < nodes.levels.size(); ++node) {
                    if (nodes.levels[node] != level || !needed[index(id)][node]) continue;
                    renumbered[index(id)][node] = step.last++;
                    members.push_back(node);
                }
                if (members.empty()) continue;
                next[k] = step.last;
                std::vector<Part*> part_of(rules_.size());
                step.parts.reserve(deriving_[index(id)].size());
                for (uint32_t rule : deriving_[index(id)]) {
                    const auto width = static_cast<uint32_t>(rules_[rule].positives.size());
                    step.parts.push_back({rule, width, {}, {}, {0}, {}});
                    part_of[rule] = &step.parts.back();
                }
                for (uint32_t m = 0; m < members.size(); ++m) {
                    const auto definition = nodes.definitions[members[m]];
                    for (size_t at = 0; at < definition.size(); at += 2 + definition[at + 1]) {
                        const uint32_t rule = definition[at];
                        Part& part = *part_of[rule];
                        part.nodes.push_back(m);
                        for (uint32_t message : definition.subspan(at + 2, definition[at + 1])) {
                            uint32_t& number = part_messages[rule][message];
                            if (number == none) {
                                number =
                                    part.width == 0
                                        ? 0
                                        : static_cast<uint32_t>(part.children.size() / part.width);
                                const auto children = rules_[rule].messages[message];
                                for (size_t i = 0; i < children.size(); ++i) {
                                    const uint32_t of = index(rules_[rule].relations[i]);
                                    part.children.push_back(renumbered[of].empty()
                                                                ? children[i]
                                                                : renumbered[of][children[i]]);
                                }
                            }
                            part.messages.push_back(number);
                        }
                        part.offsets.push_back(static_cast<uint32_t>(part.messages.size()));
                    }
                }
                // Messages that later steps use as well are computed again there.
                for (uint32_t rule : deriving_[index(id)])
                    std::fill(part_messages[rule].begin(), part_messages[rule].end(), none);
                std::erase_if(step.parts, [](const Part& part) { return part.nodes.empty(); });
                counts_.nodes += members.size();
                for (const Part& part : step.parts)
                    counts_.messages += part.width > 0 ? part.children.size() / part.width : 1;
                steps.push_back(std::move(step));
            }
        }
    }
    return steps;
}

}  // namespace planlog
