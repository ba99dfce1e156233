// A walk through the states of a task under a policy: it applies and undoes actions and keeps the
// derived actions up to date by incremental maintenance.
#pragma once

#include <array>
#include <optional>
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
    Row row;  // of the predicate's relation
    bool value;
};

// A derived action.
struct ActionRow {
    ActionId action;
    Row row;  // of the action's relation
    bool operator==(const ActionRow&) const = default;
};

class Walk {
  public:
    Walk(const Task& task, AtomTable& atoms, const Program& program);

    void start(std::span<const AtomId> state);
    bool is_applicable(ActionId action, const ObjectId* arguments);
    // The action must be applicable. MissingValue and CostOverflow leave the walk as it is.
    void apply(ActionId action, const ObjectId* arguments);
    void undo();
    // Appends the values that an applicable action gives to atoms in the present state.
    void append_effects(ActionId action, const ObjectId* arguments,
                        std::vector<StateChange>& changes);
    bool has_conditional_effects(ActionId action) const;
    // The cost of an applicable action in the present state. Throws as `apply` does.
    Cost cost_of(ActionId action, const ObjectId* arguments);
    bool has_conditional_costs(ActionId action) const;
    // Goes to the state that differs by these changes, and forgets the steps so far.
    void jump(const std::vector<StateChange>& changes);
    // The changes of a step: only atoms that had another value before.
    std::span<const StateChange> changes(size_t step) const;

    size_t steps() const { return journal_.size(); }
    Cost cost() const { return cost_; }
    size_t goals_left() const;
    std::vector<AtomId> state() const;  // sorted
    // A hash of the state; equal states have equal fingerprints.
    std::array<uint64_t, 2> fingerprint() const { return fingerprint_; }

    size_t action_count() const;
    // The derived actions, ordered by schema, then by arguments.
    std::vector<GroundAction> actions() const;
    // The same as rows of the actions' relations, without copies of the arguments.
    void append_actions(std::vector<ActionRow>& actions) const;
    // Calls visit(action) for each of them, in an order that depends on the steps so far.
    template <class Visitor>
    void visit_actions(Visitor visit) const {
        StepCounter steps;
        for (const DerivedSchema& schema : derived_schemas_) {
            const Relation& relation = materialization_.relation(schema.relation);
            const Index& all = relation.index(schema.all_rows);
            for (Row row = relation.first(schema.all_rows, nullptr); row != no_row;
                 row = all.next(row)) {
                steps.step();
                visit(ActionRow{schema.action, row});
            }
        }
    }
    const ObjectId* arguments(ActionRow action) const;
    GroundAction ground(ActionRow action) const;
    std::optional<ActionRow> find_derived(ActionId action, const ObjectId* arguments) const;
    // Samples a derived action uniformly: the one whose hash with the key is least, so the choice
    // does not depend on the order in which actions were derived. Of very many actions it takes one
    // in constant time, which depends on the steps so far.
    std::optional<ActionRow> sample(uint64_t key) const;
    // A hash of the schema, the arguments and the key; it does not depend on the row.
    uint64_t hash(ActionRow action, uint64_t key) const;
    // A sample of the standard Gumbel distribution, a function of the action and the key. The
    // action with the highest sum of score and sample is a sample of the softmax of the scores (the
    // Gumbel-max trick, Maddison, Tarlow and Minka 2014).
    double gumbel(ActionRow action, uint64_t key) const;
    // Orders actions by the names of their schemas, then of their objects.
    bool is_named_before(ActionRow one, ActionRow other) const;

    Materialization& materialization() { return materialization_; }
    const Materialization& materialization() const { return materialization_; }

  private:
    // A condition of an action. Its variables are the action's parameters, then quantified ones.
    struct PlannedQuery {
        Query query;
        JoinPlan plan;

        bool always_holds() const { return query.body.empty() && query.comparisons.empty(); }
    };
    struct Schema {
        PlannedQuery precondition;
        std::vector<PlannedQuery> effects;  // the condition of each
        std::vector<PlannedQuery> costs;
    };
    struct DerivedSchema {
        ActionId action;
        RelationId relation;
        uint32_t all_rows;  // number of the index on no column: all true rows
    };
    struct Step {
        size_t begin;  // of its changes
        Cost cost;
    };

    Program compile_conditions(Program program, const Task& task);
    void plan_conditions();
    // Calls visit(binding), the values of all variables, for each answer of a condition.
    template <class Visitor>
    void for_each_answer(const PlannedQuery& condition, const ObjectId* arguments, Visitor visit);
    void add_to_fingerprint(PredicateId predicate, const ObjectId* values, size_t arity);
    Cost function_value(const CostEffect& cost, const ObjectId* binding) const;
    size_t arity(ActionId action) const;
    ActionRow sample_row(uint64_t key) const;
    void perform(std::span<const StateChange> changes, bool forward);

    std::vector<Schema> schemas_;
    Materialization materialization_;
    std::vector<DerivedSchema> derived_schemas_;  // those that the policy has rules for
    std::vector<Literal> basic_goals_;
    std::vector<Literal> other_goals_;  // of derived predicates
    std::vector<Row> other_goal_rows_;  // those of their atoms
    // Per predicate and row: bit v is set if a basic goal wants the atom to have the value v.
    std::vector<std::vector<uint8_t>> wanted_;
    size_t basic_goals_left_ = 0;
    std::array<uint64_t, 2> fingerprint_{};
    Cost cost_;
    std::vector<Step> journal_;
    std::vector<StateChange> changes_;    // of all steps, one after another
    uint64_t plan_version_ = UINT64_MAX;  // of the materialization, when conditions were planned
    std::vector<uint32_t> matches_;
};

}  // namespace planlog
