#include "search/plan_local_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

namespace planlog {

namespace {

constexpr uint32_t none = UINT32_MAX;
constexpr double temperature = 3;  // of the draw of a perturbation's first action

}  // namespace

PlanLocalSearch::PlanLocalSearch(const Task& task, AtomTable& atoms, const Program& program,
                                 const Network* network, uint64_t seed, bool eliminate,
                                 const std::atomic<bool>& stop)
    : scored_walk_(task, atoms, program, network),
      random_(seed),
      eliminate_(eliminate),
      stop_(stop),
      first_with_(task.domain->actions.size()),
      parity_(task.domain->predicates.size()) {}

void PlanLocalSearch::start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
                            double noise) {
    initial_.assign(state.begin(), state.end());
    scored_walk_.walk().start(initial_);
    if (scored_walk_.has_scores()) first_noise_ = noise;
    adopt(plan);
    if (!eliminate_) return;
    const Materialization& materialization = scored_walk_.walk().materialization();
    elimination_.emplace(materialization.task(), materialization.atoms(), initial_);
    if (const auto eliminated = elimination_->eliminate(plan))
        adopt_eliminated(plan, cost_, *eliminated);
}

// --- The plan ------------------------------------------------------------------

bool PlanLocalSearch::adopt(const std::vector<GroundAction>& plan) {
    size_t common = 0;  // steps at the beginning, which stay
    while (common < std::min(plan.size(), plan_.size()) && plan[common] == plan_[common].action)
        ++common;
    go_to(common);
    Walk& walk = scored_walk_.walk();
    const Cost before = common < plan_.size() ? plan_[common].cost : cost_;
    std::vector<Step> added = apply(std::span(plan).subspan(common), before);
    if (walk.goals_left() > 0) throw std::invalid_argument("the plan does not lead to a goal");
    return replace(common, plan_.size(), std::move(added), before + walk.cost());
}

// Applies the actions where the walk is now, after steps of the given cost.
std::vector<PlanLocalSearch::Step> PlanLocalSearch::apply(std::span<const GroundAction> actions,
                                                          Cost cost) {
    Walk& walk = scored_walk_.walk();
    std::vector<Step> applied;
    for (const GroundAction& action : actions) {
        interruption_point();
        const ObjectId* arguments = action.arguments.data();
        if (!walk.is_applicable(action.action, arguments))
            throw std::invalid_argument("an action of the plan is not applicable");
        applied.push_back({action, no_row, cost + walk.cost(), walk.fingerprint(), {}});
        walk.apply(action.action, arguments);
        const auto changes = walk.changes(walk.steps() - 1);
        applied.back().changes.assign(changes.begin(), changes.end());
    }
    return applied;
}

// Goes to the end of the plan from the initial state. The rows of its steps get new numbers.
void PlanLocalSearch::restore_walk() {
    Walk& walk = scored_walk_.walk();
    walk.start(initial_);
    plan_ = apply(plan(), Cost{});
    base_ = plan_.size();
    walk.jump({});
    index_plan();
    is_walk_undefined_ = false;
}

// Replaces the steps of the plan from `begin` up to `end`, where the walk is now. Returns whether
// the plan has become cheaper.
bool PlanLocalSearch::replace(size_t begin, size_t end, std::vector<Step> added, Cost cost) {
    for (size_t i = end; i < plan_.size(); ++i) plan_[i].cost += cost - cost_;
    const auto first = plan_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = plan_.begin() + static_cast<std::ptrdiff_t>(end);
    plan_.insert(plan_.erase(first, last), std::make_move_iterator(added.begin()),
                 std::make_move_iterator(added.end()));
    base_ = begin + added.size();
    const bool is_cheaper = cost < cost_;
    cost_ = cost;
    scored_walk_.walk().jump({});
    index_plan();
    if (is_cheaper) forget_tried();
    return is_cheaper;
}

void PlanLocalSearch::index_plan() {
    const Materialization& materialization = scored_walk_.walk().materialization();
    for (auto& rows : first_with_) std::fill(rows.begin(), rows.end(), none);
    next_with_.assign(plan_.size(), none);
    applied_in_.assign(plan_.size(), 0);
    step_of_.clear();
    for (size_t i = plan_.size(); i-- > 0;) {
        Step& step = plan_[i];
        step_of_.emplace(step.state[0], static_cast<uint32_t>(i));
        const auto relation = materialization.program().find_action(step.action.action);
        if (step.row == no_row && relation)
            step.row = materialization.relation(*relation).find(step.action.arguments.data());
        if (step.row == no_row) continue;
        auto& rows = first_with_[index(step.action.action)];
        if (step.row >= rows.size()) rows.resize(step.row + 1, none);
        next_with_[i] = rows[step.row];
        rows[step.row] = static_cast<uint32_t>(i);
    }
}

void PlanLocalSearch::forget_tried() {
    tried_.clear();
    for (Step& step : plan_) step.weight = 1;
}

std::vector<GroundAction> PlanLocalSearch::plan() const {
    std::vector<GroundAction> actions;
    for (const Step& step : plan_) actions.push_back(step.action);
    return actions;
}

std::vector<AtomId> PlanLocalSearch::state(size_t step) {
    go_to(step);
    return scored_walk_.walk().state();
}

// Undoes the walk's own steps and those of the plan between `base_` and the step, at once: an atom
// has changed if it changed an odd number of times, in whatever direction.
void PlanLocalSearch::go_to(size_t step) {
    if (is_walk_undefined_) restore_walk();
    Walk& walk = scored_walk_.walk();
    net_.clear();
    const auto pass = [&](std::span<const StateChange> changes) {
        for (const StateChange& change : changes) {
            auto& rows = parity_[index(change.predicate)];
            if (change.row >= rows.size()) rows.resize(change.row + 1, 0);
            rows[change.row] ^= 1;
            net_.push_back(change);
        }
    };
    for (size_t i = 0; i < walk.steps(); ++i) pass(walk.changes(i));
    for (size_t i = std::min(base_, step); i < std::max(base_, step); ++i) pass(plan_[i].changes);
    size_t kept = 0;
    for (const StateChange& change : net_) {
        uint8_t& odd = parity_[index(change.predicate)][change.row];
        if (!odd) continue;
        odd = 0;
        net_[kept++] = {change.predicate, change.row,
                        !walk.materialization().state(change.predicate).is_true(change.row)};
    }
    net_.resize(kept);
    walk.jump(net_);
    base_ = step;
}

// --- Perturbations -------------------------------------------------------------

std::optional<size_t> PlanLocalSearch::draw_step() {
    double total = 0;
    for (const Step& step : plan_) total += step.weight;
    if (!(total > 0)) return std::nullopt;
    double draw = uniform() * total;
    size_t last = 0;
    for (size_t i = 0; i < plan_.size(); ++i) {
        if (plan_[i].weight <= 0) continue;
        last = i;
        if (draw < plan_[i].weight) break;
        draw -= plan_[i].weight;
    }
    return last;
}

// Draws one of the untried actions of the current state, by their scores. The weight of the step
// starts as an upper bound; rejection sampling corrects for it.
std::optional<ActionRow> PlanLocalSearch::draw_action(size_t at) {
    Walk& walk = scored_walk_.walk();
    Step& step = plan_[at];
    const uint64_t key = random_();
    const auto& scored = scored_walk_.scored();
    float highest = -std::numeric_limits<float>::infinity();
    for (const ScoredAction& one : scored) highest = std::max(highest, one.score);
    double all = 0, untried = 0, best = -std::numeric_limits<double>::infinity();
    std::optional<ActionRow> drawn;
    for (const auto& [action, score] : scored) {
        const double value = (score - highest) / temperature;
        all += std::exp(value);
        if (action == step.action_row() || tried_.contains(walk.hash(action, step.state[0])))
            continue;
        untried += std::exp(value);
        const double chance = value + walk.gumbel(action, key);
        if (chance <= best) continue;
        best = chance;
        drawn = action;
    }
    const double weight = drawn ? untried / all : 0;
    const bool is_accepted = uniform() * step.weight < weight;
    step.weight = weight;
    if (!is_accepted) return std::nullopt;
    return drawn;
}

PlanLocalSearch::Perturbation PlanLocalSearch::draw_perturbation(size_t step) {
    const double exponents = std::log2(static_cast<double>(plan_.size() - step)) + 2;
    const auto draw = [&] { return size_t{1} << static_cast<uint32_t>(uniform() * exponents); };
    const size_t tabu_steps = draw(), policy_steps = draw() - 1;
    const double noise = uniform() < 0.5 ? 0 : std::exp2(-4 * uniform());
    return {tabu_steps, policy_steps, noise, random_()};
}

bool PlanLocalSearch::improve() {
    if (const auto noise = std::exchange(first_noise_, {}); noise && !plan_.empty()) {
        go_to(0);
        const auto cost = rollout(0, std::nullopt, {0, SIZE_MAX, *noise, random_(), false});
        return cost && accept(0, *cost);
    }
    const auto step = draw_step();
    ++expansions_;  // also if nothing is tried, so that the search ends
    if (!step) {
        forget_tried();  // plateau moves may have opened new neighbours since
        return false;
    }
    go_to(*step);
    auto action = draw_action(*step);
    if (!action) return false;
    if (uniform() < 0.5)
        action.reset();  // the rollout may begin with a later action of the plan
    else
        tried_.insert(scored_walk_.walk().hash(*action, plan_[*step].state[0]));
    const auto cost = rollout(*step, action, draw_perturbation(*step));
    return cost && accept(*step, *cost);
}

// --- Rollouts ------------------------------------------------------------------

// Rolls out from the state of a step, where the walk is. Returns the cost of the resulting plan,
// unless it is higher than that of the current one.
std::optional<Cost> PlanLocalSearch::rollout(size_t step, std::optional<ActionRow> first,
                                             const Perturbation& perturbation) try {
    Walk& walk = scored_walk_.walk();
    trajectory_.clear();
    ++rollouts_;
    from_ = step;
    const Cost before = plan_[step].cost;
    // Cycle detection (Brent 1980): compare each state with the one after 1, 2, 4, ... steps.
    Fingerprint kept = plan_[step].state;
    size_t next_kept = 1;
    std::optional<ActionRow> action = first ? first : next(perturbation);
    while (action) {
        if (stop_.load(std::memory_order_relaxed)) return std::nullopt;
        if (const uint32_t planned = first_left(*action); planned != none)
            applied_in_[planned] = rollouts_;
        trajectory_.push_back({*action, before + walk.cost(), walk.fingerprint()});
        walk.apply(action->action, walk.arguments(*action));
        ++expansions_;
        const Cost cost = before + walk.cost();
        if (cost - cost_ > slack_) return std::nullopt;
        const Fingerprint state = walk.fingerprint();
        if (walk.goals_left() == 0) {
            rejoin_step_ = plan_.size();
            return cost;
        }
        if (const auto joined = step_of_.find(state[0]); perturbation.may_rejoin &&
                                                         joined != step_of_.end() &&
                                                         plan_[joined->second].state == state) {
            rejoin_step_ = joined->second;
            const Cost total = cost + (cost_ - plan_[rejoin_step_].cost);
            if (total - cost_ > slack_ || rejoin_step_ <= step) return std::nullopt;
            return total;
        }
        if (state == kept) return std::nullopt;
        if (trajectory_.size() == next_kept) {
            kept = state;
            next_kept *= 2;
        }
        action = next(perturbation);
    }
    return std::nullopt;
} catch (const CostOverflow&) {  // it costs more than any plan can
    return std::nullopt;
}

std::optional<ActionRow> PlanLocalSearch::next(const Perturbation& perturbation) {
    std::optional<ActionRow> tabu;
    if (trajectory_.size() < perturbation.tabu_steps) tabu = plan_[from_].action_row();
    if (trajectory_.size() >= perturbation.policy_steps) {
        uint32_t first = none;  // planned action that is left and derived
        scored_walk_.walk().visit_actions([&](ActionRow action) {
            if (action != tabu) first = std::min(first, first_left(action));
        });
        if (first != none) return plan_[first].action_row();
    }
    const uint64_t key = perturbation.key + trajectory_.size();
    if (const auto action = scored_walk_.best(key, perturbation.noise, tabu)) return action;
    return scored_walk_.best(key, perturbation.noise);
}

// Returns the first step with this action that the rollout has not applied; none if there is none.
uint32_t PlanLocalSearch::first_left(ActionRow action) const {
    const auto& rows = first_with_[index(action.action)];
    if (action.row >= rows.size()) return none;
    uint32_t step = rows[action.row];
    while (step != none && (step < from_ || applied_in_[step] == rollouts_))
        step = next_with_[step];
    return step;
}

// Adopts a plan of this cost without its redundant actions. Returns whether it is cheaper.
bool PlanLocalSearch::adopt_eliminated(const std::vector<GroundAction>& plan, Cost cost,
                                       const ActionElimination::Result& eliminated) {
    std::vector<GroundAction> kept;
    for (const uint32_t step : eliminated.steps) kept.push_back(plan[step]);
    slack_ = std::max(slack_, cost - eliminated.cost);
    return adopt(kept);
}

// Replaces the steps of the plan from `step` up to `rejoin_step_` by the trajectory of the rollout,
// if the resulting plan costs no more. Returns whether the plan has become cheaper.
bool PlanLocalSearch::accept(size_t step, Cost cost) {
    Walk& walk = scored_walk_.walk();
    if (elimination_) {
        std::vector<GroundAction> actions;
        for (size_t i = 0; i < step; ++i) actions.push_back(plan_[i].action);
        for (const Move& move : trajectory_) actions.push_back(walk.ground(move.action));
        for (size_t i = rejoin_step_; i < plan_.size(); ++i) actions.push_back(plan_[i].action);
        if (const auto eliminated = elimination_->eliminate(actions);
            eliminated && eliminated->steps.size() < actions.size())
            return eliminated->cost < cost_ && adopt_eliminated(actions, cost, *eliminated);
        if (cost > cost_) return false;
    }
    std::vector<Step> added;
    for (size_t i = 0; i < trajectory_.size(); ++i) {
        const auto& [action, before, state] = trajectory_[i];
        const auto changes = walk.changes(i);
        added.push_back(
            {walk.ground(action), action.row, before, state, {changes.begin(), changes.end()}});
    }
    return replace(step, rejoin_step_, std::move(added), cost);
}

// --- Labels --------------------------------------------------------------------

PlanLocalSearch::ActionCosts PlanLocalSearch::action_costs(size_t step) {
    std::vector<ActionRow> actions;
    ActionCosts costs;
    bool is_better = true;
    while (std::exchange(is_better, false)) {
        go_to(step);
        actions.clear();
        costs.clear();
        scored_walk_.walk().append_actions(actions);
        for (const ActionRow action : actions) {
            const Size present(cost_, plan_.size());
            std::optional<Size> size;
            if (action == plan_[step].action_row()) size = present;
            // After the action: by the plan, by the policy for some steps, or by the policy alone.
            for (const size_t policy_steps : {size_t{0}, size_t{4}, SIZE_MAX}) {
                if (size) break;
                go_to(step);
                if (const auto cost = rollout(step, action, {1, policy_steps, 0, 0}))
                    size.emplace(*cost, step + trajectory_.size() + plan_.size() - rejoin_step_);
            }
            if (size && *size < present) {
                is_better = accept(step, size->first) || plan_.size() < present.second;
                if (is_better) break;
            }
            if (size) *size = {size->first - plan_[step].cost, size->second - step};
            costs.emplace_back(scored_walk_.walk().ground(action), size);
        }
    }
    return costs;
}

}  // namespace planlog
