// A walk through the states of a task under a policy: apply an action, go back,
// ask what the policy derives. The model is maintained, not recomputed.
#pragma once

#include <array>
#include <span>
#include <stdexcept>
#include <vector>

#include "datalog/materialization.hpp"

namespace planlog {

// A cost function has no value for the objects that an action asks about.
struct MissingValue : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct GroundAction {
    ActionId action{};
    std::vector<ObjectId> arguments;
    auto operator<=>(const GroundAction&) const = default;
};

// An atom of the state and the truth value it gets.
struct StateChange {
    PredicateId predicate;
    Row row;  // in the model's relation
    bool value;
};

struct ActionRow {
    ActionId action;
    Row row;  // in the model's relation for the action
    bool operator==(const ActionRow&) const = default;
};

class Walk {
  public:
    Walk(const Task& task, AtomTable& atoms, const Program& program);

    void start(std::span<const AtomId> state);
    bool is_applicable(ActionId action, const ObjectId* arguments);
    // The action must be applicable. MissingValue leaves the walk as it is.
    void apply(ActionId action, const ObjectId* arguments);
    void undo();
    // Appends the values that an applicable action gives to atoms in the present state.
    void append_effects(ActionId action, const ObjectId* arguments,
                        std::vector<StateChange>& changes);
    bool has_conditional_effects(ActionId action) const;
    // Goes to the state that differs by these changes; from there on, steps are counted anew.
    void jump(const std::vector<StateChange>& changes);
    // What a step has changed: only atoms that had another value before.
    std::span<const StateChange> changes(size_t step) const;

    size_t steps() const { return journal_.size(); }
    double cost() const { return cost_; }
    size_t goals_left() const;
    std::vector<AtomId> state() const;  // sorted
    // Of the set of true state atoms; equal states have equal fingerprints.
    std::array<uint64_t, 2> fingerprint() const { return fingerprint_; }

    size_t action_count() const;
    // The derived actions, ordered by schema, then by arguments.
    std::vector<GroundAction> actions() const;
    // The same as rows of the actions' relations, for those who ask often.
    void append_actions(std::vector<ActionRow>& actions) const;
    // Calls visit(action) for each of them, in an order that depends on the way here.
    template <class Visitor>
    void visit_actions(Visitor visit) const {
        for (size_t i = 0; i < action_relations_.size(); ++i) {
            const Relation& relation = materialization_.relation(action_relations_[i]);
            const Index& all = relation.index(action_indexes_[i]);
            for (Row row = relation.first(action_indexes_[i], nullptr); row != no_row;
                 row = all.next(row))
                visit(ActionRow{action_ids_[i], row});
        }
    }
    const ObjectId* arguments(ActionRow action) const;
    GroundAction ground(ActionRow action) const;
    bool derives(ActionId action, const ObjectId* arguments) const;
    // A uniformly random derived action: the one whose hash with the key is least. So
    // it does not depend on the order in which actions were derived.
    bool sample(uint64_t key, GroundAction& chosen) const;
    // Depends on what the action is, not on the number of its row.
    uint64_t hash(ActionRow action, uint64_t key) const;
    // A number drawn from the standard Gumbel distribution, by the action and the key. The
    // action for which score + number is highest is drawn by the softmax of the scores.
    double gumbel(ActionRow action, uint64_t key) const;
    // By the names of the actions and then of their objects.
    bool is_named_before(ActionRow one, ActionRow other) const;

    Materialization& materialization() { return materialization_; }
    const Materialization& materialization() const { return materialization_; }

  private:
    struct Condition {
        Query query;
        JoinPlan plan;
    };
    struct ConditionalEffect {
        bool always;          // no condition, no quantifier
        Condition condition;  // variables: the action's parameters, then the quantified ones
        bool value;
        PredicateId predicate;
        std::vector<Term> terms;
    };
    struct ConditionalCost {
        Condition condition;
        const CostEffect* cost;
    };
    struct Schema {
        Condition precondition;
        std::vector<ConditionalEffect> effects;
        std::vector<ConditionalCost> costs;
    };
    struct Step {
        size_t begin;  // of its changes
        double cost;
    };

    static Program extended(const Program& program, const Task& task, std::vector<Rule>& rules);
    void plan_conditions();
    double cost_of(const Schema& schema, const ObjectId* arguments);
    void perform(std::span<const StateChange> changes, bool forward);

    std::vector<Rule> conditions_;  // of all actions, in the order of compilation
    Materialization materialization_;
    std::vector<Schema> schemas_;
    std::vector<RelationId> action_relations_;  // of the schemas the policy has rules for
    std::vector<ActionId> action_ids_;
    std::vector<uint32_t> action_indexes_;        // on no column: all true rows
    std::vector<std::vector<int8_t>> goal_sign_;  // per basic predicate and row: 1, -1 or 0
    std::vector<Literal> other_goals_;            // derived predicates, equalities
    size_t basic_goals_left_ = 0;
    std::array<uint64_t, 2> fingerprint_{};
    double cost_ = 0;
    std::vector<Step> journal_;
    std::vector<StateChange> changes_;    // of all steps, one after another
    uint64_t plan_version_ = UINT64_MAX;  // of the model, when conditions were planned
    std::vector<uint32_t> matches_;
};

}  // namespace planlog
