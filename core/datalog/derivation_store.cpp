#include "datalog/derivation_store.hpp"

#include <algorithm>

namespace planlog {

constexpr uint32_t numbers_per_link = 2;  // next, previous

DerivationStore::DerivationStore(const CompiledProgram& program)
    : rules_(program.rules),
      relations_(program.relations),
      pools_(program.rules.size()),
      lists_(program.relations.size()) {
    for (size_t i = 0; i < lists_.size(); ++i) {
        lists_[i].deriving_count = static_cast<uint32_t>(relations_[i].deriving.size());
        lists_[i].link_offsets.resize(relations_[i].occurrences.size());
        lists_[i].per_row = lists_[i].deriving_count + lists_[i].link_offsets.size();
    }
    for (size_t r = 0; r < pools_.size(); ++r) {
        const CompiledRule& rule = rules_[r];
        Pool& pool = pools_[r];
        pool.body_size = static_cast<uint32_t>(rule.query.body.size());
        pool.links = {{1 + pool.body_size, 0, index(rule.head), rule.deriving_position}};
        pool.stride = 1 + pool.body_size + numbers_per_link;
        for (uint32_t l = 0; l < pool.body_size; ++l) {
            if (!rule.is_linked(l)) continue;
            const uint32_t relation = index(rule.query.body[l].relation);
            Lists& lists = lists_[relation];
            pool.links.push_back(
                {pool.stride, 1 + l, relation, lists.deriving_count + rule.occurrences[l]});
            lists.link_offsets[rule.occurrences[l]] = pool.stride;
            pool.stride += numbers_per_link;
        }
    }
}

void DerivationStore::add_next_row(RelationId relation) {
    Lists& lists = lists_[index(relation)];
    lists.support.emplace_back();
    lists.first.resize(lists.first.size() + lists.per_row, no_slot);
}

template <class Visitor>
void DerivationStore::for_each_list(Pool& pool, const uint32_t* derivation, Visitor visit) {
    for (const auto& [offset, member, relation, position] : pool.links) {
        Lists& lists = lists_[relation];
        visit(lists.first[derivation[member] * lists.per_row + position], offset);
    }
}

const Row* DerivationStore::insert(uint32_t rule, Row head, const Row* body) {
    Pool& pool = pools_[rule];
    Slot slot = pool.free;
    if (slot != no_slot) {
        pool.free = pool[slot][1];
    } else {
        slot = static_cast<Slot>(pool.data.size() / pool.stride);
        pool.data.resize(pool.data.size() + pool.stride);
    }
    ++pool.live;
    uint32_t* derivation = pool[slot];
    derivation[0] = head;
    std::copy_n(body, pool.body_size, derivation + 1);
    for_each_list(pool, derivation, [&](Slot& first, uint32_t at) {
        derivation[at] = first;
        derivation[at + 1] = no_slot;
        if (first != no_slot) pool[first][at + 1] = slot;
        first = slot;
    });
    ++support({rules_[rule].head, head}).count;
    return derivation + 1;
}

Row DerivationStore::remove(uint32_t rule, Slot slot) {
    Pool& pool = pools_[rule];
    uint32_t* derivation = pool[slot];
    for_each_list(pool, derivation, [&](Slot& first, uint32_t at) {
        const Slot next = derivation[at], previous = derivation[at + 1];
        if (next != no_slot) pool[next][at + 1] = previous;
        if (previous != no_slot)
            pool[previous][at] = next;
        else
            first = next;
    });
    const Row head = derivation[0];
    derivation[0] = no_row;
    derivation[1] = pool.free;
    pool.free = slot;
    --pool.live;
    if (pool.is_active) --support({rules_[rule].head, head}).count;
    return head;
}

void DerivationStore::discard(uint32_t rule) {
    const Pool& pool = pools_[rule];
    pool.for_each([&](const Row* derivation) {
        remove(rule, static_cast<Slot>((derivation - pool.data.data()) / pool.stride));
    });
}

void DerivationStore::clear_dynamic() {
    for (size_t i = 0; i < lists_.size(); ++i) {
        if (relations_[i].is_static) continue;
        lists_[i].support.clear();
        lists_[i].first.clear();
    }
    for (size_t r = 0; r < pools_.size(); ++r) {
        if (rules_[r].is_static) continue;
        pools_[r].data.clear();
        pools_[r].free = no_slot;
        pools_[r].live = 0;
        pools_[r].is_active = false;
    }
}

}  // namespace planlog
