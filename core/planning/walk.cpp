#include "planning/walk.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace planlog {

namespace {

// Derived actions that a sample looks at, all of them. Above this number it draws rows instead.
constexpr size_t most_listed = 1 << 16;

uint64_t hash_of(uint64_t seed, uint32_t symbol, const ObjectId* values, size_t arity) {
    uint64_t hash = mix(seed + 0x9e3779b97f4a7c15ULL * (symbol + 1));
    for (size_t i = 0; i < arity; ++i)
        hash = mix(hash + 0x9e3779b97f4a7c15ULL * (uint64_t{values[i]} + 1));
    return mix(hash ^ 0xa0761d6478bd642fULL);
}

}  // namespace

// Returns the program with the relations that the actions' conditions read.
Program Walk::compile_conditions(Program program, const Task& task) {
    for (const Action& action : task.domain->actions) {
        const auto compile = [&](const std::vector<Literal>& condition,
                                 const std::vector<Parameter>& quantified) {
            const auto parameter_count = static_cast<uint32_t>(action.parameters.size());
            return PlannedQuery{program.query(condition, parameter_count, quantified), {}};
        };
        Schema& schema = schemas_.emplace_back(Schema{compile(action.precondition, {}), {}, {}});
        for (const Effect& effect : action.effects)
            schema.effects.push_back(compile(effect.condition, effect.quantified));
        for (const CostEffect& cost : action.costs)
            schema.costs.push_back(compile(cost.condition, cost.quantified));
    }
    return program;
}

Walk::Walk(const Task& task, AtomTable& atoms, const Program& program)
    : materialization_(task, atoms, compile_conditions(program.for_task(task), task)) {
    for (uint32_t i = 0; i < task.domain->actions.size(); ++i)
        if (const auto relation = materialization_.program().find_action(ActionId(i)))
            derived_schemas_.push_back(
                {ActionId(i), *relation, materialization_.index_of_true_rows(*relation)});
    const auto& predicates = task.domain->predicates;
    for (const Literal& literal : task.goal) {
        const bool is_basic = index(literal.predicate) < predicates.size() &&
                              predicates[index(literal.predicate)].kind == PredicateKind::Basic;
        (is_basic ? basic_goals_ : other_goals_).push_back(literal);
    }
}

// Conditions of actions are planned like rules: by the sizes of the relations.
void Walk::plan_conditions() {
    if (plan_version_ == materialization_.plan_version()) return;
    plan_version_ = materialization_.plan_version();
    const auto plan = [&](PlannedQuery& condition) {
        condition.plan = materialization_.plan(condition.query);
    };
    for (Schema& schema : schemas_) {
        plan(schema.precondition);
        std::ranges::for_each(schema.effects, plan);
        std::ranges::for_each(schema.costs, plan);
    }
}

void Walk::start(std::span<const AtomId> state) {
    materialization_.evaluate(state);
    plan_conditions();
    journal_.clear();
    changes_.clear();
    cost_ = Cost();
    fingerprint_ = {};
    {
        AtomTable& atoms = materialization_.atoms();
        const auto lock = atoms.lock();
        for (AtomId atom : state)
            add_to_fingerprint(atoms.predicate(atom), atoms.values(atom), atoms.arity(atom));
    }
    wanted_.assign(materialization_.task().domain->predicates.size(), {});
    basic_goals_left_ = 0;
    for (const Literal& literal : basic_goals_) {
        const Row row = materialization_.row(literal.predicate, object_row(literal.terms).data());
        auto& wanted = wanted_[index(literal.predicate)];
        if (row >= wanted.size()) wanted.resize(row + 1);
        wanted[row] |= literal.negated ? 1 : 2;
        basic_goals_left_ += !materialization_.holds(literal);
    }
    other_goal_rows_.clear();
    for (const Literal& literal : other_goals_)
        other_goal_rows_.push_back(
            materialization_.row(literal.predicate, object_row(literal.terms).data()));
}

// Adds an atom to the fingerprint, or removes it.
void Walk::add_to_fingerprint(PredicateId predicate, const ObjectId* values, size_t arity) {
    for (size_t half = 0; half < 2; ++half)
        fingerprint_[half] ^= hash_of(half, index(predicate), values, arity);
}

size_t Walk::goals_left() const {
    size_t left = basic_goals_left_;
    for (size_t i = 0; i < other_goals_.size(); ++i) {
        const Literal& literal = other_goals_[i];
        left += materialization_.state(literal.predicate).is_true(other_goal_rows_[i]) ==
                literal.negated;
    }
    return left;
}

// --- Actions -----------------------------------------------------------------

bool Walk::is_applicable(ActionId action, const ObjectId* arguments) {
    // Derived actions are applicable, and most of the actions in question are derived.
    if (find_derived(action, arguments)) return true;
    const Action& schema = materialization_.task().domain->actions[index(action)];
    const Domain& domain = *materialization_.task().domain;
    for (size_t i = 0; i < schema.parameters.size(); ++i) {
        const TypeId type = materialization_.task().objects[arguments[i]].type;
        if (!domain.is_subtype_of_any(type, schema.parameters[i].types)) return false;
    }
    const PlannedQuery& condition = schemas_[index(action)].precondition;
    matches_.clear();
    return materialization_.run(condition.query, condition.plan, arguments, matches_) > 0;
}

template <class Visitor>
void Walk::for_each_answer(const PlannedQuery& condition, const ObjectId* arguments,
                           Visitor visit) {
    if (condition.always_holds()) return visit(arguments);
    const auto& [query, plan] = condition;
    matches_.clear();
    const size_t count = materialization_.run(query, plan, arguments, matches_);
    const size_t width = query.body.size() + query.variable_count;
    for (size_t i = 0; i < count; ++i) visit(matches_.data() + i * width + query.body.size());
}

// An atom that is both deleted and added is added.
void Walk::append_effects(ActionId action, const ObjectId* arguments,
                          std::vector<StateChange>& changes) {
    plan_conditions();
    const auto begin = static_cast<std::ptrdiff_t>(changes.size());
    ObjectId values[max_arity];
    const auto& effects = materialization_.task().domain->actions[index(action)].effects;
    for (size_t e = 0; e < effects.size(); ++e) {
        const Literal& atom = effects[e].atom;
        const PlannedQuery& condition = schemas_[index(action)].effects[e];
        for_each_answer(condition, arguments, [&](const ObjectId* binding) {
            for (size_t i = 0; i < atom.terms.size(); ++i) values[i] = atom.terms[i].under(binding);
            changes.push_back(
                {atom.predicate, materialization_.row(atom.predicate, values), !atom.negated});
        });
    }
    const std::ranges::subrange added(changes.begin() + begin, changes.end());
    std::ranges::sort(added, {}, [](const StateChange& change) {
        return std::tuple(change.predicate, change.row, !change.value);
    });
    const auto repeated = std::ranges::unique(added, {}, [](const StateChange& change) {
        return std::pair(change.predicate, change.row);
    });
    changes.erase(repeated.begin(), repeated.end());
}

bool Walk::has_conditional_effects(ActionId action) const {
    const auto& effects = schemas_[index(action)].effects;
    return !std::ranges::all_of(effects, &PlannedQuery::always_holds);
}

bool Walk::has_conditional_costs(ActionId action) const {
    const auto& costs = schemas_[index(action)].costs;
    return !std::ranges::all_of(costs, &PlannedQuery::always_holds);
}

Cost Walk::cost_of(ActionId action, const ObjectId* arguments) {
    const Task& task = materialization_.task();
    if (!task.minimises_cost) return Cost(1);
    plan_conditions();
    const auto& costs = task.domain->actions[index(action)].costs;
    Cost total;
    for (size_t c = 0; c < costs.size(); ++c)
        for_each_answer(schemas_[index(action)].costs[c], arguments, [&](const ObjectId* binding) {
            total += costs[c].is_constant ? task.costs.constants[costs[c].constant]
                                          : function_value(costs[c], binding);
        });
    return total;
}

Cost Walk::function_value(const CostEffect& cost, const ObjectId* binding) const {
    const Task& task = materialization_.task();
    std::vector<ObjectId> row;
    for (Term term : cost.terms) row.push_back(term.under(binding));
    const auto& values = task.costs.function_values[cost.function];
    const auto value = values.find(function_key(row));
    if (value != values.end()) return value->second;
    std::string atom = task.domain->functions[cost.function].name;
    for (ObjectId object : row) atom += " " + task.objects[object].name;
    throw MissingValue("the task gives no value for (" + atom + ")");
}

// Makes the changes, or undoes them.
void Walk::perform(std::span<const StateChange> changes, bool forward) {
    for (const StateChange change : changes) {
        const bool value = change.value == forward;
        const Relation& relation = materialization_.state(change.predicate);
        add_to_fingerprint(change.predicate, relation.values(change.row), relation.arity());
        const auto& wanted = wanted_[index(change.predicate)];
        if (change.row < wanted.size()) {
            basic_goals_left_ += wanted[change.row] >> !value & 1;
            basic_goals_left_ -= wanted[change.row] >> value & 1;
        }
        materialization_.change(change.predicate, change.row, value);
    }
    materialization_.finish();
}

void Walk::apply(ActionId action, const ObjectId* arguments) {
    const Cost cost = cost_of(action, arguments), total = cost_ + cost;
    const Step step{changes_.size(), cost};
    journal_.push_back(step);
    append_effects(action, arguments, changes_);
    const auto begin = changes_.begin() + static_cast<std::ptrdiff_t>(step.begin);
    const auto end = std::remove_if(begin, changes_.end(), [&](const StateChange& change) {
        return materialization_.state(change.predicate).is_true(change.row) == change.value;
    });
    changes_.erase(end, changes_.end());
    cost_ = total;
    perform(std::span(changes_).subspan(step.begin), true);
}

void Walk::undo() {
    const Step step = journal_.back();
    perform(std::span(changes_).subspan(step.begin), false);
    journal_.pop_back();
    changes_.resize(step.begin);
    cost_ -= step.cost;
}

void Walk::jump(const std::vector<StateChange>& changes) {
    perform(changes, true);
    journal_.clear();
    changes_.clear();
    cost_ = Cost();
}

std::span<const StateChange> Walk::changes(size_t step) const {
    const size_t begin = journal_[step].begin;
    const size_t end = step + 1 < journal_.size() ? journal_[step + 1].begin : changes_.size();
    return std::span(changes_).subspan(begin, end - begin);
}

// --- States and derived actions -------------------------------------------------

std::vector<AtomId> Walk::state() const {
    std::vector<AtomId> state;
    const auto lock = materialization_.atoms().lock();
    const auto& predicates = materialization_.task().domain->predicates;
    for (uint32_t p = 0; p < predicates.size(); ++p) {
        if (!predicates[p].fluent) continue;
        const Relation& relation = materialization_.state(PredicateId(p));
        for (Row row : relation.true_rows())
            state.push_back(materialization_.atoms().intern(PredicateId(p), relation.values(row)));
    }
    std::sort(state.begin(), state.end());
    return state;
}

size_t Walk::action_count() const {
    size_t count = 0;
    for (const DerivedSchema& schema : derived_schemas_)
        count += materialization_.relation(schema.relation).size();
    return count;
}

void Walk::append_actions(std::vector<ActionRow>& actions) const {
    const auto begin = static_cast<std::ptrdiff_t>(actions.size());
    visit_actions([&](ActionRow action) { actions.push_back(action); });
    std::sort(actions.begin() + begin, actions.end(), [&](ActionRow a, ActionRow b) {
        if (a.action != b.action) return a.action < b.action;
        const ObjectId *first = arguments(a), *second = arguments(b);
        const size_t arity = this->arity(a.action);
        return std::lexicographical_compare(first, first + arity, second, second + arity);
    });
}

size_t Walk::arity(ActionId action) const {
    return materialization_.task().domain->actions[index(action)].parameters.size();
}

const ObjectId* Walk::arguments(ActionRow action) const {
    return materialization_.relation(*materialization_.program().find_action(action.action))
        .values(action.row);
}

GroundAction Walk::ground(ActionRow action) const {
    const ObjectId* values = arguments(action);
    return {action.action, {values, values + arity(action.action)}};
}

std::optional<ActionRow> Walk::find_derived(ActionId action, const ObjectId* arguments) const {
    const auto relation = materialization_.program().find_action(action);
    if (!relation) return std::nullopt;
    const Relation& derived = materialization_.relation(*relation);
    const Row row = derived.find(arguments);
    if (row == no_row || !derived.is_true(row)) return std::nullopt;
    return ActionRow{action, row};
}

std::vector<GroundAction> Walk::actions() const {
    std::vector<ActionRow> rows;
    append_actions(rows);
    std::vector<GroundAction> actions;
    for (ActionRow row : rows) actions.push_back(ground(row));
    return actions;
}

std::optional<ActionRow> Walk::sample(uint64_t key) const {
    if (action_count() > most_listed) return sample_row(key);
    std::optional<ActionRow> chosen;
    uint64_t least = UINT64_MAX;
    visit_actions([&](ActionRow action) {
        const uint64_t value = hash(action, key);
        if (chosen && value >= least) return;
        chosen = action;
        least = value;
    });
    return chosen;
}

// Draws rows until one is true: few are false, since most rows are those of derived actions.
ActionRow Walk::sample_row(uint64_t key) const {
    size_t rows = 0;
    for (const DerivedSchema& schema : derived_schemas_)
        rows += materialization_.relation(schema.relation).row_count();
    for (uint64_t attempt = 1;; ++attempt) {
        size_t row = mix(key + attempt * 0x9e3779b97f4a7c15ULL) % rows;
        for (const DerivedSchema& schema : derived_schemas_) {
            const Relation& relation = materialization_.relation(schema.relation);
            if (row >= relation.row_count()) {
                row -= relation.row_count();
                continue;
            }
            if (relation.is_true(static_cast<Row>(row)))
                return {schema.action, static_cast<Row>(row)};
            break;
        }
    }
}

uint64_t Walk::hash(ActionRow action, uint64_t key) const {
    return hash_of(key, index(action.action), arguments(action), arity(action.action));
}

double Walk::gumbel(ActionRow action, uint64_t key) const {
    const double uniform = (static_cast<double>(hash(action, key) >> 11) + 0.5) * 0x1p-53;
    return -std::log(-std::log(uniform));
}

bool Walk::is_named_before(ActionRow one, ActionRow other) const {
    const Task& task = materialization_.task();
    const Action &first = task.domain->actions[index(one.action)],
                 &second = task.domain->actions[index(other.action)];
    if (one.action != other.action) return first.name < second.name;
    for (size_t i = 0; i < first.parameters.size(); ++i) {
        const ObjectId a = arguments(one)[i], b = arguments(other)[i];
        if (a != b) return task.objects[a].name < task.objects[b].name;
    }
    return false;
}

}  // namespace planlog
