// The canonical model of a program for a state of a task, with every derivation,
// evaluated from scratch or maintained while atoms of the state change.
//
// A derivation is a satisfied substitution of a rule. It is stored as the row of
// its head and the rows of its body's atoms, and it is on the list of each of
// them: on the list of derivations of its head, and on the list of uses of each
// body atom that may ever change. So
//   - an atom that becomes false ends exactly the derivations on its lists of
//     positive uses, one that becomes true exactly those on its lists of negated
//     uses, without any join;
//   - an atom that becomes true (or false, under negation) starts new derivations,
//     found by joins that begin at the changed atom (see join.hpp);
//   - a derived atom of a component without recursion is true as long as its list
//     of derivations is not empty.
//
// In a recursive component atoms could support each other in a circle. There each
// atom has a rank, and at least one of its derivations uses only atoms of its own
// component with smaller ranks ("founded"). An atom that loses its last founded
// derivation becomes false, with all that depends on it; then the atoms that still
// have derivations (from atoms that stayed true) come back with new ranks.
//
// A literal without arguments, such as `arm-empty`, is a gate: it decides for all
// derivations of its rule at once. While a gate is closed, the rule's derivations
// are kept but do not count, and changes of the atoms they use are only noted;
// when it opens, they are brought up to date for the atoms noted.
// So a gate that opens and closes costs time in proportion to the derivations it
// lets through, and a closed one next to nothing.
//
// Components are updated in order. An update of a component first ends
// derivations, then starts new ones, and only then tells later components which
// atoms have changed on balance.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "join.hpp"
#include "program.hpp"
#include "relation.hpp"
#include "state.hpp"

namespace planlog {

class Model {
  public:
    // The program is one made by Program::for_task; task and atom table outlive the model.
    Model(const Task& task, AtomTable& atoms, Program program);

    // From scratch, for the state with these (fluent) atoms.
    void evaluate(std::span<const AtomId> state);
    // Changes the truth of a state atom, given by its row; `finish` then brings everything up
    // to date.
    void change(PredicateId predicate, Row row, bool value);
    void finish();

    const Task& task() const { return *task_; }
    AtomTable& atoms() const { return *atoms_; }
    const Program& program() const { return program_; }
    const Relation& relation(RelationId id) const { return relations_[index(id)]; }
    const Relation& state(PredicateId id) const { return relations_[index(state_relation(id))]; }
    RelationId state_relation(PredicateId id) const { return state_relations_[index(id)]; }
    bool is_static(RelationId id) const { return ledgers_[index(id)].is_static; }
    bool is_goal_atom(PredicateId predicate, const ObjectId* values) const;
    bool holds(const Literal& literal) const;  // ground, over the task's objects

    // Conditions of actions are queries of the same kind as rule bodies.
    Query bind(const Rule& rule, uint32_t bound_count) const;
    Plan plan(const Query& query);
    // Grows when plans are chosen anew because sizes have changed.
    uint64_t plan_version() const { return plan_version_; }
    size_t run(const Query& query, const Plan& plan, const ObjectId* bound,
               std::vector<uint32_t>& matches);

    // Head row and body rows (of negated literals too, where their relation can change) of
    // all derivations of a rule.
    void derivations(uint32_t rule, std::vector<Row>& heads, std::vector<Row>& bodies) const;
    size_t derivation_count(uint32_t rule) const {
        return rules_[rule].is_open ? pools_[rule].live : 0;
    }
    // Calls visit(rule, rows of the body) for each derivation of one atom.
    template <class Visitor>
    void derivations_of(RelationId relation, Row row, Visitor visit) const {
        const Ledger& ledger = ledgers_[index(relation)];
        for (size_t d = 0; d < ledger.deriving.size(); ++d) {
            const uint32_t rule = ledger.deriving[d];
            if (!rules_[rule].is_open) continue;
            const Pool& pool = pools_[rule];
            const size_t head_link = rules_[rule].query.body.size() + 1;
            for (Slot slot = ledger.derivations[row * ledger.deriving.size() + d]; slot != no_slot;
                 slot = pool.data[size_t{slot} * pool.stride + head_link])
                visit(rule, pool.data.data() + size_t{slot} * pool.stride + 1);
        }
    }
    // Calls visit(rule, row of the head) for each derivation that uses an atom, also for those of
    // rules whose gates are closed, until it returns true; whether it did. Of atoms that never
    // change nothing is known.
    template <class Visitor>
    bool any_use_of(RelationId relation, Row row, Visitor visit) const {
        const Ledger& ledger = ledgers_[index(relation)];
        for (size_t o = 0; o < ledger.occurrences.size(); ++o) {
            const auto [rule, literal] = ledger.occurrences[o];
            const Pool& pool = pools_[rule];
            for (Slot slot = ledger.uses[row * ledger.occurrences.size() + o]; slot != no_slot;
                 slot = pool.data[size_t{slot} * pool.stride + rules_[rule].link_at[literal]])
                if (visit(rule, pool.data[size_t{slot} * pool.stride])) return true;
        }
        // Gates are on no lists: all derivations of their rules use them.
        for (uint32_t rule : ledger.gated_rules) {
            const Pool& pool = pools_[rule];
            for (uint32_t gate : rules_[rule].gates)
                if (rules_[rule].query.body[gate].relation == relation)
                    for (size_t at = 0; at < pool.data.size(); at += pool.stride)
                        if (pool.data[at] != no_row && visit(rule, pool.data[at])) return true;
        }
        return false;
    }
    // Those who keep values of atoms ask to be told whose derivations change.
    void track_derivations() { is_tracking_ = true; }
    struct Change {
        RelationId relation;
        Row row;
        auto operator<=>(const Change&) const = default;
    };
    // Atoms that have lost or won derivations since this was last asked (some perhaps several
    // times), and how often the model was evaluated from scratch, which changes all.
    void take_rederived(std::vector<Change>& changes) {
        changes.clear();
        changes.swap(rederived_);
    }
    uint64_t evaluations() const { return evaluations_; }
    uint32_t index_of_true_rows(RelationId id) { return relations_[index(id)].index_on(0); }
    // The row of a state atom, true or false.
    Row row(PredicateId predicate, const ObjectId* values) {
        return intern(state_relation(predicate), values);
    }

    std::function<void()>& poll() { return joiner_.poll; }

  private:
    using Slot = uint32_t;  // of a derivation in its rule's pool
    static constexpr Slot no_slot = UINT32_MAX;

    struct Occurrence {
        uint32_t rule;
        uint32_t literal;
    };
    // What maintenance knows about the rows of one relation.
    struct Ledger {
        struct Entry {
            uint32_t support = 0;  // number of derivations
            uint32_t rank = 0;     // in recursive components
            bool touched = false;  // by the update in progress
            bool before = false;   // truth before that update, if touched
        };
        bool is_static = false;  // no action can change it
        uint32_t component = 0;
        std::vector<Occurrence> occurrences;     // in rule bodies; empty for static relations
        std::vector<uint32_t> deriving;          // rules with this head
        std::vector<Entry> entries;              // per row
        std::vector<Slot> uses;                  // per row and occurrence: first of the list
        std::vector<Slot> derivations;           // per row and deriving rule: first of the list
        std::vector<uint32_t> positive_readers;  // components with a positive occurrence
        std::vector<uint32_t> negated_readers;
        std::vector<uint32_t> gated_rules;  // rules that have it as a gate
    };
    // Derivations of one rule, `stride` numbers each: the head's row, the body's
    // rows, and next/previous pairs: first for the head's list, then for each literal
    // whose relation can change.
    struct Pool {
        uint32_t stride = 0;
        std::vector<uint32_t> data;
        Slot free = no_slot;
        size_t live = 0;
    };
    struct RuleData {
        Query query;
        RelationId head{};
        std::vector<Term> head_terms;
        uint32_t component = 0;
        uint32_t deriving_position = 0;             // in the head's ledger
        std::vector<uint32_t> link_at;              // per literal; 0: not linked
        std::vector<uint32_t> occurrence_position;  // per literal, in its relation's ledger
        std::vector<uint32_t> own;                  // positive literals of the rule's own component
        std::vector<uint32_t> gates;                // positions of literals
        bool is_open = false;                       // all gates hold: derivations count
        bool is_evaluated = false;  // derivations are those of the time it was last open
        bool was_opened = false;    // by the update in progress
        bool is_static = false;
        Plan full;
        std::vector<Plan> triggered;  // per literal; only for relations that can change
        std::vector<Change> noted;    // each change of an atom since the gates closed
    };
    struct Work {                      // of one component, for the update in progress
        std::vector<Change> changes;   // atoms of earlier components, on balance
        std::vector<Change> suspects;  // own atoms that lost a derivation
        std::vector<Change> touched;   // own atoms that lost or won a derivation
        std::vector<uint32_t> gated;   // rules with a gate that changed
    };

    void compile();
    void load_static();
    void plan_component(uint32_t component);
    void plan_triggers();
    void remember_sizes();
    bool plans_are_stale() const;
    void clear_dynamic();

    Row intern(RelationId relation, const ObjectId* values);
    void set_atom(PredicateId predicate, const ObjectId* values, bool value);
    void set_row(RelationId relation, Row row, bool value);
    void set_input(RelationId relation, const ObjectId* values, bool value) {
        set_row(relation, intern(relation, values), value);
    }
    void set_statuses(PredicateId predicate, const ObjectId* values, bool value);

    void insert(uint32_t rule, const uint32_t* match);
    void remove(uint32_t rule, Slot slot);
    void end_uses(Change change, bool positive, std::optional<uint32_t> only_component);
    void touch(Change change);
    void note_rederived(Change change) {
        if (is_tracking_ && !evaluating_) rederived_.push_back(change);
    }
    Work& work_of(uint32_t component);
    void announce(Change change);

    bool gates_hold(const RuleData& rule) const;
    void note(uint32_t rule, Change change);
    void count_derivations(uint32_t rule, bool count);
    void open(uint32_t rule);
    void close(uint32_t rule);
    void forget(uint32_t rule);

    void evaluate_component(uint32_t component);
    void evaluate_rule(uint32_t rule);
    void update_component(uint32_t component);
    void retract_unfounded(uint32_t component);
    void restore_supported(uint32_t component);
    void process_queue(uint32_t component);
    void settle(uint32_t component);
    bool is_founded(Change change) const;
    uint32_t rank_of(uint32_t rule, const Row* body) const;
    void trigger(Change change, uint32_t component);
    void trigger_literal(Change change, uint32_t rule, uint32_t literal);

    const Task* task_;
    AtomTable* atoms_;
    Program program_;
    std::vector<RelationId> state_relations_;
    struct StatusRelations {
        std::optional<RelationId> achieved, unachieved, achieved_nongoal;
    };
    std::vector<StatusRelations> status_relations_;  // per basic predicate
    std::vector<Relation> goals_;                    // per predicate: its positive goal atoms
    std::vector<ObjectId> constants_;                // the program's, in this task

    std::vector<Component> components_;
    std::vector<Relation> relations_;
    std::vector<Ledger> ledgers_;
    std::vector<RuleData> rules_;
    std::vector<Pool> pools_;
    std::vector<Work> work_;
    std::vector<uint64_t> has_work_;     // bit c: component c
    std::vector<size_t> planned_sizes_;  // of the relations, when plans were chosen
    Joiner joiner_;
    std::vector<uint32_t> matches_;
    std::vector<Change> queue_;
    bool is_tracking_ = false;
    std::vector<Change> rederived_;
    uint64_t evaluations_ = 0;
    uint64_t stamp_ = 0;
    uint64_t plan_version_ = 0;
    uint64_t updates_ = 0;      // since the last evaluation from scratch
    uint64_t next_review_ = 8;  // of the plans, in updates
    bool evaluation_planned_ = false;
    bool triggers_planned_ = false;
    bool static_done_ = false;
    bool evaluating_ = true;  // from scratch: nobody needs to be told of a change
};

}  // namespace planlog
