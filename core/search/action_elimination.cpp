#include "search/action_elimination.hpp"

#include <algorithm>
#include <numeric>

namespace planlog {

namespace {

struct Fact {
    AtomId atom;
    bool value;
};

struct Step {
    std::vector<Fact> needs, makes;
    double cost = 0;
};

// Turns literals into facts about atoms that can change.
class Facts {
  public:
    Facts(const Task& task, AtomTable& atoms) : task_(task), atoms_(atoms) {}

    // False if a literal is about a derived predicate.
    bool append(const Literal& literal, const std::vector<ObjectId>& arguments,
                std::vector<Fact>& facts) {
        if (literal.kind == LiteralKind::Equality) return true;
        const auto& predicates = task_.domain->predicates;
        if (index(literal.predicate) >= predicates.size()) return false;
        const Predicate& predicate = predicates[index(literal.predicate)];
        if (predicate.kind != PredicateKind::Basic) return false;
        if (!predicate.fluent) return true;
        const auto values = substituted(literal.terms, arguments);
        facts.push_back({atoms_.intern(literal.predicate, values.data()), !literal.negated});
        return true;
    }

    std::optional<Step> step(const GroundAction& ground) {
        const Action& action = task_.domain->actions[index(ground.action)];
        Step step;
        for (const Literal& literal : action.precondition)
            if (!append(literal, ground.arguments, step.needs)) return std::nullopt;
        for (const bool is_removed : {true, false})  // what is removed and added is true
            for (const Effect& effect : action.effects) {
                if (!effect.condition.empty() || !effect.quantified.empty()) return std::nullopt;
                if (effect.atom.negated != is_removed) continue;
                if (!append(effect.atom, ground.arguments, step.makes)) return std::nullopt;
            }
        if (!task_.minimises_cost) step.cost = 1;
        for (const CostEffect& cost : action.costs) {
            if (!task_.minimises_cost) break;
            if (!cost.condition.empty() || !cost.quantified.empty()) return std::nullopt;
            step.cost += cost.is_constant ? cost.constant
                                          : task_.function_values[cost.function].at(function_key(
                                                substituted(cost.terms, ground.arguments)));
        }
        return step;
    }

  private:
    static std::vector<ObjectId> substituted(const std::vector<Term>& terms,
                                             const std::vector<ObjectId>& arguments) {
        std::vector<ObjectId> values;
        for (const Term& term : terms)
            values.push_back(term.is_variable ? arguments[term.value] : term.value);
        return values;
    }

    const Task& task_;
    AtomTable& atoms_;
};

// Of the steps, those that serve.
std::vector<uint32_t> serving(const std::vector<Step>& steps, const std::vector<uint32_t>& chosen,
                              std::vector<bool> holds, const std::vector<Fact>& goal) {
    std::vector<std::vector<Fact>> changes;  // what a step makes that did not hold
    for (const uint32_t i : chosen) {
        auto& changed = changes.emplace_back();
        std::vector<bool> before;
        for (const Fact& fact : steps[i].makes) before.push_back(holds[fact.atom]);
        for (const Fact& fact : steps[i].makes) holds[fact.atom] = fact.value;
        for (size_t f = 0; f < before.size(); ++f)
            if (const Fact& fact = steps[i].makes[f];
                before[f] != fact.value && holds[fact.atom] == fact.value)
                changed.push_back(fact);
    }
    enum class Want : uint8_t { Nothing, True, False };
    std::vector<Want> wanted(holds.size(), Want::Nothing);
    const auto want = [](bool value) { return value ? Want::True : Want::False; };
    for (const Fact& fact : goal) wanted[fact.atom] = want(fact.value);
    std::vector<uint32_t> kept;
    for (size_t s = chosen.size(); s-- > 0;) {
        bool serves = false;
        for (const Fact& fact : changes[s]) {
            if (wanted[fact.atom] != want(fact.value)) continue;
            wanted[fact.atom] = Want::Nothing;
            serves = true;
        }
        if (!serves) continue;
        for (const Fact& fact : steps[chosen[s]].needs) wanted[fact.atom] = want(fact.value);
        kept.push_back(chosen[s]);
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
}

}  // namespace

std::optional<Elimination> eliminate_actions(const Task& task, AtomTable& atoms,
                                             std::span<const AtomId> state,
                                             const std::vector<GroundAction>& plan) {
    const auto lock = atoms.lock();
    Facts facts(task, atoms);
    std::vector<Fact> goal;
    for (const Literal& literal : task.goal)
        if (!facts.append(literal, {}, goal)) return std::nullopt;
    std::vector<Step> steps;
    for (const GroundAction& action : plan) {
        auto step = facts.step(action);
        if (!step) return std::nullopt;
        steps.push_back(std::move(*step));
    }
    std::vector<bool> holds(atoms.size());
    for (const AtomId atom : state) holds[atom] = true;
    std::vector<uint32_t> kept(plan.size());
    std::iota(kept.begin(), kept.end(), 0);
    size_t before;
    do {
        before = kept.size();
        kept = serving(steps, kept, holds, goal);
    } while (kept.size() < before);
    double cost = 0;
    for (const uint32_t step : kept) cost += steps[step].cost;
    return Elimination{std::move(kept), cost};
}

}  // namespace planlog
