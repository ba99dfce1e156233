#include "planning/walk.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace planlog {

namespace {

uint64_t hash_of(uint64_t seed, uint32_t symbol, const ObjectId* values, size_t arity) {
    uint64_t hash = mix(seed + 0x9e3779b97f4a7c15ULL * (symbol + 1));
    for (size_t i = 0; i < arity; ++i)
        hash = mix(hash + 0x9e3779b97f4a7c15ULL * (uint64_t{values[i]} + 1));
    return mix(hash ^ 0xa0761d6478bd642fULL);
}

}  // namespace

// The program for the task, with the relations that the actions' conditions read.
Program Walk::extended(const Program& program, const Task& task, std::vector<Rule>& rules) {
    Program result = program.for_task(task);
    const auto add = [&](const Action& action, const std::vector<Literal>& condition,
                         const std::vector<Parameter>& quantified) {
        Rule& rule = rules.emplace_back();
        const auto parameter_count = static_cast<uint32_t>(action.parameters.size());
        rule.variable_count = parameter_count + static_cast<uint32_t>(quantified.size());
        result.append(condition, rule);
        result.add_type_literals(rule, quantified, parameter_count);
    };
    for (const Action& action : task.domain->actions) {
        add(action, action.precondition, {});
        for (const Effect& effect : action.effects)
            add(action, effect.condition, effect.quantified);
        for (const CostEffect& cost : action.costs) add(action, cost.condition, cost.quantified);
    }
    return result;
}

Walk::Walk(const Task& task, AtomTable& atoms, const Program& program)
    : materialization_(task, atoms, extended(program, task, conditions_)) {
    auto rule = conditions_.begin();
    for (const Action& action : task.domain->actions) {
        const auto parameters = static_cast<uint32_t>(action.parameters.size());
        Schema& schema = schemas_.emplace_back();
        schema.precondition.query = materialization_.bind(*rule++, parameters);
        for (const Effect& effect : action.effects)
            schema.effects.push_back({effect.condition.empty() && effect.quantified.empty(),
                                      {materialization_.bind(*rule++, parameters), {}},
                                      !effect.atom.negated,
                                      effect.atom.predicate,
                                      effect.atom.terms});
        for (const CostEffect& cost : action.costs)
            schema.costs.push_back({{materialization_.bind(*rule++, parameters), {}}, &cost});
    }
    for (uint32_t i = 0; i < task.domain->actions.size(); ++i)
        if (const auto relation = materialization_.program().find_action(ActionId(i)))
            derived_schemas_.push_back(
                {ActionId(i), *relation, materialization_.index_of_true_rows(*relation)});
    const auto& predicates = task.domain->predicates;
    for (const Literal& literal : task.goal) {
        const bool is_basic = literal.kind == LiteralKind::Atom &&
                              index(literal.predicate) < predicates.size() &&
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
        for (ConditionalEffect& effect : schema.effects) plan(effect.condition);
        for (ConditionalCost& cost : schema.costs) plan(cost.condition);
    }
}

void Walk::start(std::span<const AtomId> state) {
    materialization_.evaluate(state);
    plan_conditions();
    journal_.clear();
    changes_.clear();
    cost_ = 0;
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
        const uint8_t bit = literal.negated ? 1 : 2;
        if (wanted[row] & bit) continue;  // the goal occurs twice
        wanted[row] |= bit;
        basic_goals_left_ += !materialization_.holds(literal);
    }
}

// Adds an atom to the fingerprint, or removes it.
void Walk::add_to_fingerprint(PredicateId predicate, const ObjectId* values, size_t arity) {
    for (size_t half = 0; half < 2; ++half)
        fingerprint_[half] ^= hash_of(half, index(predicate), values, arity);
}

size_t Walk::goals_left() const {
    size_t left = basic_goals_left_;
    for (const Literal& literal : other_goals_) left += !materialization_.holds(literal);
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
    const auto append = [&](const ConditionalEffect& effect, const ObjectId* binding) {
        for (size_t i = 0; i < effect.terms.size(); ++i) {
            const Term term = effect.terms[i];
            values[i] = term.is_variable ? binding[term.value] : term.value;
        }
        changes.push_back(
            {effect.predicate, materialization_.row(effect.predicate, values), effect.value});
    };
    for (const ConditionalEffect& effect : schemas_[index(action)].effects) {
        const auto visit = [&](const ObjectId* binding) { append(effect, binding); };
        effect.always ? visit(arguments) : for_each_answer(effect.condition, arguments, visit);
    }
    const auto before = [](const StateChange& a, const StateChange& b) {
        return std::tuple(a.predicate, a.row, b.value) < std::tuple(b.predicate, b.row, a.value);
    };
    std::sort(changes.begin() + begin, changes.end(), before);
    const auto same_atom = [](const StateChange& a, const StateChange& b) {
        return a.predicate == b.predicate && a.row == b.row;
    };
    changes.erase(std::unique(changes.begin() + begin, changes.end(), same_atom), changes.end());
}

bool Walk::has_conditional_effects(ActionId action) const {
    const auto& effects = schemas_[index(action)].effects;
    return std::any_of(effects.begin(), effects.end(), [](const auto& e) { return !e.always; });
}

double Walk::cost_of(const Schema& schema, const ObjectId* arguments) {
    if (!materialization_.task().minimises_cost) return 1;
    double total = 0;
    for (const auto& [condition, cost] : schema.costs)
        for_each_answer(condition, arguments, [&](const ObjectId* binding) {
            total += cost->is_constant ? cost->constant : function_value(*cost, binding);
        });
    return total;
}

double Walk::function_value(const CostEffect& cost, const ObjectId* binding) const {
    const Task& task = materialization_.task();
    std::vector<ObjectId> row;
    for (Term term : cost.terms) row.push_back(term.is_variable ? binding[term.value] : term.value);
    const auto& values = task.function_values[cost.function];
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
    plan_conditions();
    const double cost = cost_of(schemas_[index(action)], arguments);
    const Step step{changes_.size(), cost};
    journal_.push_back(step);
    append_effects(action, arguments, changes_);
    const auto begin = changes_.begin() + static_cast<std::ptrdiff_t>(step.begin);
    const auto end = std::remove_if(begin, changes_.end(), [&](const StateChange& change) {
        return materialization_.state(change.predicate).is_true(change.row) == change.value;
    });
    changes_.erase(end, changes_.end());
    cost_ += cost;
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
    cost_ = 0;
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
