#include "datalog/derivation_store.hpp"

#include <algorithm>

namespace planlog {

namespace {

constexpr uint32_t numbers_per_link = 2;  // next, previous

}  // namespace

DerivationStore::DerivationStore(const CompiledProgram& program)
    : rules_(program.rules),
      relations_(program.relations),
      pools_(program.rules.size()),
      lists_(program.relations.size()) {
    for (size_t i = 0; i < lists_.size(); ++i) {
        lists_[i].occurrence_count = relations_[i].occurrences.size();
        lists_[i].deriving_count = relations_[i].deriving.size();
        lists_[i].link_offsets.resize(lists_[i].occurrence_count);
    }
    for (size_t r = 0; r < pools_.size(); ++r) {
        const CompiledRule& rule = rules_[r];
        Pool& pool = pools_[r];
        pool.body_size = static_cast<uint32_t>(rule.query.body.size());
        pool.head = {1 + pool.body_size, 0, index(rule.head), rule.deriving_position};
        pool.stride = pool.head.offset + numbers_per_link;
        for (uint32_t l = 0; l < pool.body_size; ++l) {
            if (!rule.is_linked(l)) continue;
            const uint32_t relation = index(rule.query.body[l].relation);
            pool.links.push_back({pool.stride, 1 + l, relation, rule.occurrences[l]});
            lists_[relation].link_offsets[rule.occurrences[l]] = pool.stride;
            pool.stride += numbers_per_link;
        }
    }
}

void DerivationStore::add_next_row(RelationId relation) {
    Lists& lists = lists_[index(relation)];
    lists.support.emplace_back();
    lists.uses.resize(lists.uses.size() + lists.occurrence_count, no_slot);
    lists.derivations.resize(lists.derivations.size() + lists.deriving_count, no_slot);
}

template <class Visitor>
void DerivationStore::for_each_list(Pool& pool, const uint32_t* derivation, Visitor visit) {
    Lists& head = lists_[pool.head.relation];
    visit(head.derivations[derivation[0] * head.deriving_count + pool.head.position],
          pool.head.offset);
    for (const Link& link : pool.links) {
        Lists& used = lists_[link.relation];
        visit(used.uses[derivation[link.member] * used.occurrence_count + link.position],
              link.offset);
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
    ++lists_[pool.head.relation].support[head].count;
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
    if (pool.is_active) --lists_[pool.head.relation].support[head].count;
    return head;
}

void DerivationStore::append(uint32_t rule, std::vector<Row>& heads,
                             std::vector<Row>& bodies) const {
    const Pool& pool = pools_[rule];
    if (!pool.is_active) return;
    pool.for_each([&](const Row* derivation) {
        heads.push_back(derivation[0]);
        bodies.insert(bodies.end(), derivation + 1, derivation + 1 + pool.body_size);
    });
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
        lists_[i].uses.clear();
        lists_[i].derivations.clear();
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
