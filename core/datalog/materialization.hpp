// The materialization of a program for a state of a task: all true atoms with every derivation,
// evaluated from scratch or maintained incrementally while atoms of the state change.
//
// The true atoms are the perfect model of a stratified program (Apt, Blair and Walker 1988).
// Components of mutually recursive relations are evaluated in the order of their dependencies,
// each by semi-naive evaluation (Bancilhon 1986): every new atom triggers joins that begin at it
// (see join.hpp), so no derivation is found twice.
//
// Maintenance is based on the stored derivations (see derivation_store.hpp):
//   - When an atom becomes false, the derivations on its lists of positive uses are removed, and
//     when it becomes true, those on its lists of negated uses. Neither needs a join.
//   - When an atom becomes true (or false, under negation), joins triggered by it find the new
//     derivations.
//   - A derived atom of a component without recursion is true as long as it has derivations: the
//     counting algorithm (Gupta, Mumick and Subrahmanian 1993).
//
// In a recursive component, counting is not enough: atoms could support each other in a cycle.
// There each atom has a rank and well-founded support: at least one of its derivations uses only
// atoms of the same component with smaller ranks (Doyle 1979). An atom that loses its last such
// derivation is deleted, together with the atoms that depend on it. Then the deleted atoms that
// still have derivations, all from atoms that stayed true, are restored with new ranks. This is
// delete and rederive (DRed, also Gupta et al. 1993), but like the backward/forward algorithm
// (Motik, Nenov, Piro and Horrocks 2015) it looks for other support first and deletes fewer atoms.
//
// A literal without arguments, such as `arm-empty`, is a gate: it holds or fails for all
// derivations of its rule at once. While a gate is closed, the rule's derivations are kept but do
// not count, and changes of the atoms that they use are deferred; when it opens, the deferred
// changes are applied. So opening and closing a gate takes time linear in the number of derivations
// of its rule.
//
// In a component of *least values*, the relations hold one row for each key, the one with the least
// number. The rows that have derivations are candidates. Evaluation makes them true in the order of
// their numbers (Knuth 1977, after Dijkstra): since no rule derives a number that is smaller than
// those it reads, a row that is true then stays true. An update first retracts rows without
// well-founded support and offers the best other candidate of their keys, adds new derivations, and
// takes the candidates in the same order; a row gives way to one with a smaller number (Ramalingam
// and Reps 1996).
//
// Components are updated in order. The update of a component first removes derivations, then adds
// new ones, and finally propagates the net changes of its atoms to later components.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "datalog/compiled_program.hpp"
#include "datalog/derivation_store.hpp"
#include "datalog/group_values.hpp"
#include "datalog/least_values.hpp"
#include "datalog/rule_plans.hpp"
#include "planning/state.hpp"
#include "util/radix_heap.hpp"

namespace planlog {

class Materialization {
  public:
    // The program is one made by Program::for_task. Task and atom table outlive the
    // materialization.
    Materialization(const Task& task, AtomTable& atoms, Program program);

    // Evaluates from scratch, for the state with these (fluent) atoms. Their order decides the
    // order of rows.
    void evaluate(std::span<const AtomId> state);
    // Changes the truth value of a state atom, given by its row. `finish` then brings all
    // relations up to date.
    void change(PredicateId predicate, Row row, bool value);
    void finish();

    const Task& task() const { return *task_; }
    AtomTable& atoms() const { return *atoms_; }
    const Program& program() const { return program_; }
    const Relation& relation(RelationId id) const { return relations_[index(id)]; }
    const Relation& state(PredicateId id) const { return relation(state_relation(id)); }
    const DerivationStore& derivations() const { return derivations_; }
    const NumberTable& numbers() const { return numbers_; }
    bool is_static(RelationId id) const { return dependencies(id).is_static; }
    bool holds(const Literal& literal) const;  // ground, over the task's objects
    // The row of a state atom, true or false.
    Row row(PredicateId predicate, const ObjectId* values) {
        return intern(state_relation(predicate), values);
    }
    uint32_t index_of_true_rows(RelationId id) { return relations_[index(id)].index_on(0); }

    // Conditions of actions are queries of the same kind as rule bodies. Their plans should be
    // chosen again when the version grows, because sizes have changed.
    JoinPlan plan(const Query& query) { return JoinPlanner(relations_).plan(query, std::nullopt); }
    uint64_t plan_version() const { return plans_.version(); }
    size_t run(const Query& query, const JoinPlan& plan, const ObjectId* bound,
               std::vector<uint32_t>& matches) {
        return executor_.run(relations_, numbers_, query, plan, bound, matches);
    }

    // Records the atoms whose derivations change, for a cache of values of atoms.
    void track_derivations() { is_tracking_ = true; }
    // Moves the atoms that have lost or gained derivations since the last call into `atoms`,
    // possibly with repetitions. An evaluation from scratch (see `evaluations`) changes all atoms.
    void take_rederived(std::vector<AtomRef>& atoms) {
        atoms.clear();
        atoms.swap(rederived_);
    }
    uint64_t evaluations() const { return evaluations_; }

  private:
    struct RuleGate {
        bool is_evaluated = false;      // derivations are those of the time it was last open
        bool was_opened = false;        // by the update in progress
        std::vector<AtomRef> deferred;  // each change of an atom since the gate closed
    };
    struct Work {                      // of one component, for the update in progress
        std::vector<AtomRef> changes;  // net changes of atoms of earlier components
        std::vector<AtomRef> dirty;    // own atoms that lost a derivation
        std::vector<AtomRef> touched;  // own atoms that lost or gained a derivation
        std::vector<uint32_t> gated;   // rules with a gate that changed
    };

    // Atoms (materialization.cpp)
    Row intern(RelationId relation, const ObjectId* values);
    void set_input(RelationId relation, Row row, bool value);
    void set_given_atoms(bool in_static_relations);
    // Evaluation from scratch (materialization.cpp)
    void clear_dynamic();
    void evaluate_component(uint32_t component);
    void evaluate_rule(uint32_t rule);
    NumberError in_rule(uint32_t rule, const NumberError& error) const;
    void add_derivations(uint32_t rule, size_t count);  // of the first `matches_`
    void add_derivation(uint32_t rule, Row* match);
    const Row* insert_derivation(uint32_t rule, AtomRef head, Row* match);
    uint32_t rank_of(uint32_t rule, const Row* body) const;
    void process_queue(uint32_t component);
    void trigger(AtomRef atom, uint32_t component);
    void trigger_literal(AtomRef atom, uint32_t rule, uint32_t literal);
    // Least values (least_values.cpp)
    int64_t least_value(AtomRef atom) const;
    std::string text(RelationId relation, const uint32_t* values) const;
    void add_candidate(uint32_t rule, const ObjectId* values, Row* match);
    void push_best(AtomRef lost);
    void set_least(AtomRef atom, bool value);
    void settle_least_values(uint32_t component);
    // Aggregates (materialization.cpp)
    void evaluate_aggregate(uint32_t component);
    void update_aggregate(uint32_t component);
    void settle_aggregate(RelationId result, GroupValues& values);
    // Maintenance (maintenance.cpp)
    void remove_derivation(uint32_t rule, DerivationStore::Slot slot);
    void end_uses(AtomRef atom, bool positive, std::optional<uint32_t> only_component);
    void touch(AtomRef atom);
    void propagate(AtomRef atom);
    Work& work_of(uint32_t component);
    void update_component(uint32_t component);
    void retract_unfounded(uint32_t component);
    bool is_well_founded(AtomRef atom) const;
    uint32_t rank_from_derivations(AtomRef atom) const;
    void restore_supported(uint32_t component);
    void commit(uint32_t component);
    // Gates (maintenance.cpp)
    bool gates_hold(uint32_t rule) const;
    void open(uint32_t rule);
    void close(uint32_t rule);
    void set_active(uint32_t rule, bool value);
    void defer(uint32_t rule, AtomRef atom);

    RelationId state_relation(PredicateId id) const {
        return compiled_->state_relations[index(id)];
    }
    const RelationDependencies& dependencies(RelationId id) const {
        return dependencies_[index(id)];
    }
    LeastValues& least_values(RelationId id) { return *least_values_[index(id)]; }
    const LeastValues& least_values(RelationId id) const { return *least_values_[index(id)]; }
    bool is_true(AtomRef atom) const { return relation(atom.relation).is_true(atom.row); }
    void set_stamp(AtomRef atom) { relations_[index(atom.relation)].set_stamp(atom.row, ++stamp_); }

    const Task* task_;
    AtomTable* atoms_;
    Program program_;
    std::shared_ptr<const CompiledProgram> compiled_;  // shared by copies, since it never changes
    std::span<const CompiledRule> rules_;              // those of `compiled_`
    std::span<const RelationDependencies> dependencies_;
    std::vector<Relation> relations_;
    NumberTable numbers_;
    RulePlans plans_;
    DerivationStore derivations_;
    std::vector<std::optional<LeastValues>> least_values_;  // per relation
    RadixHeap<AtomRef> candidates_;                         // of the component at work
    std::vector<GroupValues> group_values_;                 // per aggregate
    std::vector<RuleGate> gates_;                           // per rule
    std::vector<Work> work_;                                // per component
    std::vector<uint64_t> has_work_;                        // bit c: component c
    JoinExecutor executor_;
    std::vector<uint32_t> matches_;
    StepCounter steps_;           // derivations and atoms that were added, removed or looked at
    std::vector<AtomRef> queue_;  // changed atoms whose joins are still to be run
    std::vector<AtomRef> rederived_;
    uint64_t stamp_ = 0;
    uint64_t evaluations_ = 0;
    bool is_tracking_ = false;
    bool is_static_done_ = false;
    bool is_evaluating_ = true;  // from scratch: no component needs to be told of a change
};

}  // namespace planlog
