// Every derivation of a materialization, linked to the atoms that it concerns.
//
// A derivation is a satisfied substitution of a rule. The store keeps it as the row of its head
// and the rows of its body's atoms, in a pool of its rule. It is a member of doubly linked lists:
// the derivations of its head, and for each body atom that may ever change, the uses of that atom
// at that literal. So the derivations of an atom, and those that an atom takes part in, are found
// without a join, and a derivation comes and goes in time proportional to the length of its rule.
// (These are the justifications of a truth maintenance system, Doyle 1979.)
#pragma once

#include <span>
#include <vector>

#include "datalog/compiled_program.hpp"

namespace planlog {

// A ground atom, true or false: a row of a relation.
struct AtomRef {
    RelationId relation;
    Row row;
    auto operator<=>(const AtomRef&) const = default;
};

// The support of an atom, and what the update in progress knows about it.
struct Support {
    uint32_t count = 0;       // number of derivations
    uint32_t rank = 0;        // in recursive components
    bool is_touched = false;  // by the update in progress
    bool was_true = false;    // before that update, if touched
};

class DerivationStore {
  public:
    using Slot = uint32_t;  // number of a derivation within its rule's pool
    static constexpr Slot no_slot = UINT32_MAX;

    // The program outlives the store.
    explicit DerivationStore(const CompiledProgram& program);

    // --- Reading ---

    // Derivations of an inactive rule do not count.
    bool is_active(uint32_t rule) const { return pools_[rule].is_active; }
    size_t count(uint32_t rule) const { return is_active(rule) ? pools_[rule].live : 0; }
    size_t stored(uint32_t rule) const { return pools_[rule].live; }
    const Support& support(AtomRef atom) const {
        return lists_[index(atom.relation)].support[atom.row];
    }
    // Calls visit(head row, body rows) for each derivation of a rule. Rows of negated literals are
    // given where their relation can change.
    template <class Visitor>
    void derivations_by(uint32_t rule, Visitor visit) const {
        if (is_active(rule))
            pools_[rule].for_each(
                [&](const Row* derivation) { visit(*derivation, derivation + 1); });
    }
    // Calls visit(rule, body rows) for each derivation of an atom.
    template <class Visitor>
    void derivations_of(AtomRef atom, Visitor visit) const {
        const Lists& lists = lists_[index(atom.relation)];
        const auto& deriving = relations_[index(atom.relation)].deriving;
        for (size_t d = 0; d < deriving.size(); ++d) {
            const Pool& pool = pools_[deriving[d]];
            if (!pool.is_active) continue;
            const uint32_t link = pool.links[0].offset;
            for (Slot slot = lists.first[atom.row * lists.per_row + d]; slot != no_slot;
                 slot = pool[slot][link])
                visit(deriving[d], pool[slot] + 1);
        }
    }
    // Calls visit(rule, head row) for each derivation that uses an atom, also by inactive rules,
    // until it returns true. Returns whether it did. Uses of static atoms are not stored.
    template <class Visitor>
    bool any_use_of(AtomRef atom, Visitor visit) const {
        const RelationDependencies& relation = relations_[index(atom.relation)];
        for (uint32_t o = 0; o < relation.occurrences.size(); ++o) {
            const uint32_t rule = relation.occurrences[o].rule;
            const uint32_t link = lists_[index(atom.relation)].link_offsets[o];
            const Pool& pool = pools_[rule];
            for (Slot slot = first_use(atom, o); slot != no_slot; slot = pool[slot][link])
                if (visit(rule, pool[slot][0])) return true;
        }
        // Gates are on no list, since all derivations of their rules use them.
        for (uint32_t rule : relation.gated_rules) {
            const Pool& pool = pools_[rule];
            for (size_t at = 0; at < pool.data.size(); at += pool.stride)
                if (pool.data[at] != no_row && visit(rule, pool.data[at])) return true;
        }
        return false;
    }

    // --- Maintenance ---

    Support& support(AtomRef atom) { return lists_[index(atom.relation)].support[atom.row]; }
    // Makes room for a row of a relation; rows come one after the other.
    void add_row(RelationId relation, Row row) {
        if (row == lists_[index(relation)].support.size()) add_next_row(relation);
    }
    // Adds a derivation of an active rule. Returns its body rows, valid until the next insertion.
    const Row* insert(uint32_t rule, Row head, const Row* body);
    // Removes a derivation. Returns the row of its head.
    Row remove(uint32_t rule, Slot slot);
    // The first derivation that uses an atom at an occurrence of its relation.
    const Slot& first_use(AtomRef atom, uint32_t occurrence) const {
        const Lists& lists = lists_[index(atom.relation)];
        return lists.first[atom.row * lists.per_row + lists.deriving_count + occurrence];
    }
    // Calls visit(head row) for each derivation of the rule, which begins or ceases to count.
    template <class Visitor>
    void set_active(uint32_t rule, bool value, Visitor visit) {
        Pool& pool = pools_[rule];
        pool.is_active = value;
        auto& support = lists_[index(rules_[rule].head)].support;
        pool.for_each([&](const Row* derivation) {
            value ? ++support[derivation[0]].count : --support[derivation[0]].count;
            visit(derivation[0]);
        });
    }
    void discard(uint32_t rule);  // removes the derivations of an inactive rule
    void clear_dynamic();         // forgets rows and derivations, except static ones

  private:
    // A list that the derivations of a rule are on.
    struct Link {
        uint32_t offset;    // of the pair (next, previous) within a derivation
        uint32_t member;    // offset of the row whose list it is
        uint32_t relation;  // of that row
        uint32_t position;  // among the lists of that row
    };
    // Derivations of one rule, `stride` numbers each: the row of the head, the rows of the body,
    // and a pair (next, previous) for each list. A free slot has no_row as its head and the next
    // free slot after it.
    struct Pool {
        uint32_t stride = 0;
        uint32_t body_size = 0;
        std::vector<Link> links;  // the list of derivations of the head, then those of uses
        std::vector<uint32_t> data;
        Slot free = no_slot;
        size_t live = 0;
        bool is_active = false;

        // Calls visit(derivation) for each derivation, active or not.
        template <class Visitor>
        void for_each(Visitor visit) const {
            for (size_t at = 0; at < data.size(); at += stride)
                if (data[at] != no_row) visit(data.data() + at);
        }
        const uint32_t* operator[](Slot slot) const { return data.data() + size_t{slot} * stride; }
        uint32_t* operator[](Slot slot) { return data.data() + size_t{slot} * stride; }
    };
    // The rows of one relation: their support, and the first members of their lists. A row has a
    // list of derivations for each deriving rule, and then a list of uses for each occurrence.
    struct Lists {
        uint32_t deriving_count = 0;
        size_t per_row = 0;
        std::vector<uint32_t> link_offsets;  // per occurrence, in the derivations of its rule
        std::vector<Support> support;
        std::vector<Slot> first;
    };

    void add_next_row(RelationId relation);
    // Calls visit(first member, offset of the pair) for each list that a derivation is on.
    template <class Visitor>
    void for_each_list(Pool& pool, const uint32_t* derivation, Visitor visit);

    std::span<const CompiledRule> rules_;
    std::span<const RelationDependencies> relations_;
    std::vector<Pool> pools_;   // per rule
    std::vector<Lists> lists_;  // per relation
};

}  // namespace planlog
