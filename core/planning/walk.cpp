#include "planning/walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace planlog {

namespace {

constexpr int8_t contradiction = 2;  // a goal atom that must be both true and false

std::vector<std::vector<TypeId>> quantified_types(size_t parameter_count,
                                                  const std::vector<Parameter>& quantified) {
    std::vector<std::vector<TypeId>> types(parameter_count);
    for (const Parameter& variable : quantified) types.push_back(variable.types);
    return types;
}

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
        rule.variable_count = static_cast<uint32_t>(action.parameters.size() + quantified.size());
        result.append(condition, rule);
        result.add_type_literals(rule, quantified_types(action.parameters.size(), quantified));
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
        schema.precondition = Condition{materialization_.bind(*rule++, parameters), {}};
        for (const Effect& effect : action.effects)
            schema.effects.push_back({effect.condition.empty() && effect.quantified.empty(),
                                      {materialization_.bind(*rule++, parameters), {}},
                                      !effect.atom.negated,
                                      effect.atom.predicate,
                                      effect.atom.terms});
        for (const CostEffect& cost : action.costs)
            schema.costs.push_back({{materialization_.bind(*rule++, parameters), {}}, &cost});
    }
    for (uint32_t i = 0; i < task.domain->actions.size(); ++i) {
        if (const auto relation = materialization_.program().find_action(ActionId(i))) {
            action_ids_.push_back(ActionId(i));
            action_relations_.push_back(*relation);
            action_indexes_.push_back(materialization_.index_of_true_rows(*relation));
        }
    }
    for (const Literal& literal : task.goal) {
        const bool basic =
            literal.kind == LiteralKind::Atom &&
            index(literal.predicate) < task.domain->predicates.size() &&
            task.domain->predicates[index(literal.predicate)].kind == PredicateKind::Basic;
        if (!basic) other_goals_.push_back(literal);
    }
}

// Conditions of actions are planned like rules: by the sizes of the relations.
void Walk::plan_conditions() {
    if (plan_version_ == materialization_.plan_version()) return;
    plan_version_ = materialization_.plan_version();
    const auto plan = [&](Condition& condition) {
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
            for (size_t half = 0; half < 2; ++half)
                fingerprint_[half] ^= hash_of(half, index(atoms.predicate(atom)),
                                              atoms.values(atom), atoms.arity(atom));
    }
    goal_sign_.assign(materialization_.task().domain->predicates.size(), {});
    basic_goals_left_ = 0;
    std::vector<ObjectId> values;
    for (const Literal& literal : materialization_.task().goal) {
        if (literal.kind != LiteralKind::Atom || index(literal.predicate) >= goal_sign_.size() ||
            materialization_.task().domain->predicates[index(literal.predicate)].kind !=
                PredicateKind::Basic)
            continue;
        values.clear();
        for (Term term : literal.terms) values.push_back(term.value);
        const Row row = materialization_.row(literal.predicate, values.data());
        auto& signs = goal_sign_[index(literal.predicate)];
        if (row >= signs.size()) signs.resize(row + 1);
        const int8_t sign = literal.negated ? -1 : 1;
        if (signs[row] == sign || signs[row] == contradiction) continue;  // said before
        if (signs[row] == -sign) {  // one of the two is left in every state
            basic_goals_left_ += !materialization_.holds(literal);
            signs[row] = contradiction;
            continue;
        }
        signs[row] = sign;
        basic_goals_left_ += !materialization_.holds(literal);
    }
}

size_t Walk::goals_left() const {
    size_t left = basic_goals_left_;
    for (const Literal& literal : other_goals_) left += !materialization_.holds(literal);
    return left;
}

// --- Actions -----------------------------------------------------------------

bool Walk::is_applicable(ActionId action, const ObjectId* arguments) {
    // What the policy derives is applicable, and most actions asked about are derived.
    if (derives(action, arguments)) return true;
    const Action& schema = materialization_.task().domain->actions[index(action)];
    const Domain& domain = *materialization_.task().domain;
    for (size_t i = 0; i < schema.parameters.size(); ++i) {
        const auto& types = schema.parameters[i].types;
        const TypeId type = materialization_.task().objects[arguments[i]].type;
        if (std::none_of(types.begin(), types.end(),
                         [&](TypeId super) { return domain.is_subtype(type, super); }))
            return false;
    }
    const Condition& condition = schemas_[index(action)].precondition;
    matches_.clear();
    return materialization_.run(condition.query, condition.plan, arguments, matches_) > 0;
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
        if (effect.always) {
            append(effect, arguments);
            continue;
        }
        const Query& query = effect.condition.query;
        matches_.clear();
        const size_t count =
            materialization_.run(query, effect.condition.plan, arguments, matches_);
        const size_t width = query.body.size() + query.variable_count;
        for (size_t i = 0; i < count; ++i)
            append(effect, matches_.data() + i * width + query.body.size());
    }
    const auto before = [](const StateChange& a, const StateChange& b) {
        if (a.predicate != b.predicate) return a.predicate < b.predicate;
        if (a.row != b.row) return a.row < b.row;
        return a.value > b.value;
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
    for (const auto& [condition, cost] : schema.costs) {
        matches_.clear();
        const size_t count =
            materialization_.run(condition.query, condition.plan, arguments, matches_);
        const size_t width = condition.query.body.size() + condition.query.variable_count;
        for (size_t i = 0; i < count; ++i) {
            if (cost->is_constant) {
                total += cost->constant;
                continue;
            }
            const uint32_t* binding = matches_.data() + i * width + condition.query.body.size();
            std::vector<ObjectId> row;
            for (Term term : cost->terms)
                row.push_back(term.is_variable ? binding[term.value] : term.value);
            const auto& values = materialization_.task().function_values[cost->function];
            const auto value = values.find(function_key(row));
            if (value == values.end()) {
                std::string atom = materialization_.task().domain->functions[cost->function].name;
                for (ObjectId object : row)
                    atom += " " + materialization_.task().objects[object].name;
                throw MissingValue("the task gives no value for (" + atom + ")");
            }
            total += value->second;
        }
    }
    return total;
}

// Makes the changes, or takes them back.
void Walk::perform(std::span<const StateChange> changes, bool forward) {
    for (const StateChange change : changes) {
        const bool value = change.value == forward;
        const Relation& relation = materialization_.state(change.predicate);
        for (size_t half = 0; half < 2; ++half)
            fingerprint_[half] ^= hash_of(half, index(change.predicate),
                                          relation.values(change.row), relation.arity());
        const auto& signs = goal_sign_[index(change.predicate)];
        if (change.row < signs.size() && std::abs(signs[change.row]) == 1) {
            if ((signs[change.row] > 0) == value)
                --basic_goals_left_;
            else
                ++basic_goals_left_;
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

// --- What the policy derives ---------------------------------------------------

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
    for (RelationId relation : action_relations_)
        count += materialization_.relation(relation).size();
    return count;
}

void Walk::append_actions(std::vector<ActionRow>& actions) const {
    for (size_t i = 0; i < action_relations_.size(); ++i) {
        const Relation& relation = materialization_.relation(action_relations_[i]);
        const Index& all = relation.index(action_indexes_[i]);
        const auto begin = static_cast<std::ptrdiff_t>(actions.size());
        for (Row row = relation.first(action_indexes_[i], nullptr); row != no_row;
             row = all.next(row))
            actions.push_back({action_ids_[i], row});
        std::sort(actions.begin() + begin, actions.end(), [&](ActionRow a, ActionRow b) {
            const ObjectId *first = relation.values(a.row), *second = relation.values(b.row);
            return std::lexicographical_compare(first, first + relation.arity(), second,
                                                second + relation.arity());
        });
    }
}

const ObjectId* Walk::arguments(ActionRow action) const {
    return materialization_.relation(*materialization_.program().find_action(action.action))
        .values(action.row);
}

GroundAction Walk::ground(ActionRow action) const {
    const ObjectId* values = arguments(action);
    const size_t arity =
        materialization_.task().domain->actions[index(action.action)].parameters.size();
    return {action.action, {values, values + arity}};
}

bool Walk::derives(ActionId action, const ObjectId* arguments) const {
    const auto relation = materialization_.program().find_action(action);
    return relation && materialization_.relation(*relation).holds(arguments);
}

std::vector<GroundAction> Walk::actions() const {
    std::vector<ActionRow> rows;
    append_actions(rows);
    std::vector<GroundAction> actions;
    for (ActionRow row : rows) actions.push_back(ground(row));
    return actions;
}

bool Walk::sample(uint64_t key, GroundAction& chosen) const {
    uint64_t least = UINT64_MAX;
    const ObjectId* best = nullptr;
    size_t best_schema = 0;
    bool found = false;
    for (size_t i = 0; i < action_relations_.size(); ++i) {
        const Relation& relation = materialization_.relation(action_relations_[i]);
        const Index& all = relation.index(action_indexes_[i]);
        for (Row row = relation.first(action_indexes_[i], nullptr); row != no_row;
             row = all.next(row)) {
            const ObjectId* values = relation.values(row);
            const uint64_t hash = hash_of(key, index(action_ids_[i]), values, relation.arity());
            if (found && hash >= least) continue;
            found = true;
            least = hash;
            best = values;
            best_schema = i;
        }
    }
    if (!found) return false;
    chosen.action = action_ids_[best_schema];
    chosen.arguments.assign(
        best, best + materialization_.relation(action_relations_[best_schema]).arity());
    return true;
}

uint64_t Walk::hash(ActionRow action, uint64_t key) const {
    const size_t arity =
        materialization_.task().domain->actions[index(action.action)].parameters.size();
    return hash_of(key, index(action.action), arguments(action), arity);
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
