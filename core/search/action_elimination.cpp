#include "search/action_elimination.hpp"

#include <algorithm>
#include <numeric>

namespace planlog {

namespace {

std::vector<ObjectId> substitute(const std::vector<Term>& terms,
                                 const std::vector<ObjectId>& arguments) {
    std::vector<ObjectId> values;
    for (const Term& term : terms)
        values.push_back(term.is_variable ? arguments[term.value] : term.value);
    return values;
}

}  // namespace

ActionElimination::ActionElimination(const Task& task, AtomTable& atoms,
                                     std::span<const AtomId> state)
    : task_(task), atoms_(atoms) {
    const auto lock = atoms.lock();
    holds_.resize(atoms.size());
    for (const AtomId atom : state) holds_[atom] = true;
    for (const Literal& literal : task.goal)
        has_plain_goal_ = has_plain_goal_ && append_fact(literal, {}, goal_);
}

// Appends the fact of a literal about a fluent atom. Returns false for derived predicates.
bool ActionElimination::append_fact(const Literal& literal, const std::vector<ObjectId>& arguments,
                                    std::vector<Fact>& facts) {
    if (literal.kind == LiteralKind::Equality) return true;
    const auto& predicates = task_.domain->predicates;
    if (index(literal.predicate) >= predicates.size()) return false;
    const Predicate& predicate = predicates[index(literal.predicate)];
    if (predicate.kind != PredicateKind::Basic) return false;
    if (!predicate.fluent) return true;
    const auto values = substitute(literal.terms, arguments);
    facts.push_back({atoms_.intern(literal.predicate, values.data()), !literal.negated});
    if (facts.back().atom >= holds_.size()) holds_.resize(atoms_.size());
    return true;
}

std::optional<ActionElimination::GroundedAction> ActionElimination::ground(
    const GroundAction& ground) {
    const auto lock = atoms_.lock();
    const Action& action = task_.domain->actions[index(ground.action)];
    GroundedAction result;
    for (const Literal& literal : action.precondition)
        if (!append_fact(literal, ground.arguments, result.preconditions)) return std::nullopt;
    for (const bool deletes : {true, false})  // an atom that is both deleted and added is added
        for (const Effect& effect : action.effects) {
            if (!effect.condition.empty() || !effect.quantified.empty()) return std::nullopt;
            if (effect.atom.negated == deletes &&
                !append_fact(effect.atom, ground.arguments, result.effects))
                return std::nullopt;
        }
    if (!task_.minimises_cost) {
        result.cost = Cost(1);
        return result;
    }
    for (const CostEffect& cost : action.costs) {
        if (!cost.condition.empty() || !cost.quantified.empty()) return std::nullopt;
        const CostTable& costs = task_.costs;
        result.cost += cost.is_constant ? costs.constants[cost.constant]
                                        : costs.function_values[cost.function].at(function_key(
                                              substitute(cost.terms, ground.arguments)));
    }
    return result;
}

// Returns the backward justified ones of these steps.
std::vector<uint32_t> ActionElimination::justified(const std::vector<const GroundedAction*>& plan,
                                                   const std::vector<uint32_t>& steps) const {
    StepCounter counter;
    std::vector<bool> holds = holds_;
    std::vector<Fact> established;  // effects of each step that did not hold before
    std::vector<size_t> offsets{0};
    for (const uint32_t step : steps) {
        counter.step();
        const auto& effects = plan[step]->effects;
        const size_t begin = established.size();
        for (const Fact& fact : effects)
            if (holds[fact.atom] != fact.value) established.push_back(fact);
        for (const Fact& fact : effects) holds[fact.atom] = fact.value;
        const auto undone = std::remove_if(
            established.begin() + static_cast<std::ptrdiff_t>(begin), established.end(),
            [&](const Fact& fact) { return holds[fact.atom] != fact.value; });
        established.erase(undone, established.end());
        offsets.push_back(established.size());
    }
    std::vector<std::optional<bool>> needed(holds.size());  // truth values
    for (const Fact& fact : goal_) needed[fact.atom] = fact.value;
    std::vector<uint32_t> kept;
    for (size_t s = steps.size(); s-- > 0;) {
        counter.step();
        bool is_justified = false;
        for (size_t f = offsets[s]; f < offsets[s + 1]; ++f) {
            const Fact& fact = established[f];
            if (needed[fact.atom] != fact.value) continue;
            needed[fact.atom].reset();
            is_justified = true;
        }
        if (!is_justified) continue;
        for (const Fact& fact : plan[steps[s]]->preconditions) needed[fact.atom] = fact.value;
        kept.push_back(steps[s]);
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
}

std::optional<ActionElimination::Result> ActionElimination::eliminate(
    const std::vector<GroundAction>& plan) {
    if (!has_plain_goal_) return std::nullopt;
    StepCounter counter;
    std::vector<const GroundedAction*> actions;
    for (const GroundAction& action : plan) {
        counter.step();
        auto found = actions_.find(action);
        if (found == actions_.end()) found = actions_.emplace(action, ground(action)).first;
        if (!found->second) return std::nullopt;
        actions.push_back(&*found->second);
    }
    Result result{std::vector<uint32_t>(plan.size()), Cost()};
    std::iota(result.steps.begin(), result.steps.end(), 0);
    size_t before;
    do {
        interruption_point();
        before = result.steps.size();
        result.steps = justified(actions, result.steps);
    } while (result.steps.size() < before);
    for (const uint32_t step : result.steps) result.cost += actions[step]->cost;
    return result;
}

}  // namespace planlog
