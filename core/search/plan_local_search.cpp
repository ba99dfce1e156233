#include "search/plan_local_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace planlog {

namespace {

constexpr uint32_t none = UINT32_MAX;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double temperature = 3;  // of draws: with a high one all actions are equally likely

}  // namespace

PlanLocalSearch::PlanLocalSearch(const Task& task, AtomTable& atoms, const Program& program,
                                 const Network* network, uint64_t seed)
    : scored_walk_(task, atoms, program, network),
      random_(seed),
      first_with_(task.domain->actions.size()),
      parity_(task.domain->predicates.size()) {}

void PlanLocalSearch::start(std::span<const AtomId> state, const std::vector<GroundAction>& plan,
                            double noise) {
    scored_walk_.walk().start(state);
    plan_.clear();
    changes_.clear();
    base_ = 0;
    if (scored_walk_.has_scores()) first_noise_ = noise;
    adopt(plan);
}

// --- The plan ------------------------------------------------------------------

void PlanLocalSearch::adopt(const std::vector<GroundAction>& plan) {
    if (!plan_.empty()) go_to(0);
    Walk& walk = scored_walk_.walk();
    std::vector<Step> steps;
    std::vector<StateChange> changes;
    for (const GroundAction& action : plan) {
        if (!walk.is_applicable(action.action, action.arguments.data()))
            throw std::invalid_argument("an action of the plan is not applicable");
        steps.push_back({action, no_row, walk.cost(), changes.size(), walk.fingerprint(), 1});
        walk.apply(action.action, action.arguments.data());
        const auto changed = walk.changes(walk.steps() - 1);
        changes.insert(changes.end(), changed.begin(), changed.end());
    }
    if (walk.goals_left() > 0) throw std::invalid_argument("the plan does not lead to a goal");
    cost_ = walk.cost();
    plan_ = std::move(steps);
    changes_ = std::move(changes);
    base_ = plan_.size();
    walk.jump({});
    index_plan();
    forget_trials();
}

void PlanLocalSearch::index_plan() {
    const Materialization& materialization = scored_walk_.walk().materialization();
    for (auto& rows : first_with_) std::fill(rows.begin(), rows.end(), none);
    next_with_.assign(plan_.size(), none);
    done_in_.assign(plan_.size(), 0);
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

void PlanLocalSearch::forget_trials() {
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

// An atom has changed if the number of its changes on the way is odd, in whatever direction.
void PlanLocalSearch::go_to(size_t step) {
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
    const auto offset = [&](size_t i) {
        return i < plan_.size() ? plan_[i].changes : changes_.size();
    };
    const size_t low = offset(std::min(base_, step)), high = offset(std::max(base_, step));
    pass(std::span(changes_).subspan(low, high - low));
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

// --- Trials --------------------------------------------------------------------

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

// Where the walk is: one of the actions that were not tried, drawn by the scores. What is known of
// a step's weight is too high at first; none is drawn as often as that requires.
std::optional<ActionRow> PlanLocalSearch::draw_action(size_t at) {
    Walk& walk = scored_walk_.walk();
    Step& step = plan_[at];
    const uint64_t key = random_();
    const auto& scored = scored_walk_.scored();
    float highest = -std::numeric_limits<float>::infinity();
    for (const ScoredAction& one : scored) highest = std::max(highest, one.score);
    double all = 0, untried = 0, best = -infinite;
    std::optional<ActionRow> drawn;
    for (const auto& [action, score] : scored) {
        const double value = (score - highest) / temperature;
        all += std::exp(value);
        if ((action.action == step.action.action && action.row == step.row) ||
            tried_.contains(walk.hash(action, step.state[0])))
            continue;
        untried += std::exp(value);
        const double chance = value + walk.gumbel(action, key);
        if (chance <= best) continue;
        best = chance;
        drawn = action;
    }
    const double weight = drawn ? untried / all : 0;
    const bool is_taken = uniform() * step.weight < weight;
    step.weight = weight;
    if (!is_taken) return std::nullopt;
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
        return cost && splice(0, *cost);
    }
    const auto step = draw_step();
    if (!step) {
        forget_trials();  // the plan has changed since the first of them
        ++expansions_;    // so that it ends, where there is nothing to try
        return false;
    }
    go_to(*step);
    ++expansions_;
    auto action = draw_action(*step);
    if (!action) return false;
    if (uniform() < 0.5)
        action.reset();  // the plan's next ones are first
    else
        tried_.insert(scored_walk_.walk().hash(*action, plan_[*step].state[0]));
    const auto cost = rollout(*step, action, draw_perturbation(*step));
    return cost && splice(*step, *cost);
}

// From the state of a step, where the walk is, by an action; the cost of the whole plan then, if it
// is not higher than that of the present one.
std::optional<double> PlanLocalSearch::rollout(size_t step, std::optional<ActionRow> first,
                                               Perturbation perturbation) {
    Walk& walk = scored_walk_.walk();
    trajectory_.clear();
    ++trial_;
    from_ = step;
    const double before = plan_[step].cost;
    // A state that comes again is noticed when it comes after the one that was last kept; one is
    // kept after 1, 2, 4, ... steps.
    Fingerprint kept = plan_[step].state;
    size_t next_kept = 1;
    std::optional<ActionRow> action = first ? first : next(perturbation);
    while (action) {
        if (stop_ && stop_->load(std::memory_order_relaxed)) return std::nullopt;
        mark_done(*action);
        trajectory_.push_back({*action, before + walk.cost(), walk.fingerprint()});
        walk.apply(action->action, walk.arguments(*action));
        ++expansions_;
        const double cost = before + walk.cost();
        if (cost > cost_) return std::nullopt;
        const Fingerprint state = walk.fingerprint();
        if (walk.goals_left() == 0) {
            rejoin_step_ = plan_.size();
            return cost;
        }
        if (const auto joined = step_of_.find(state[0]); perturbation.may_rejoin &&
                                                         joined != step_of_.end() &&
                                                         plan_[joined->second].state == state) {
            rejoin_step_ = joined->second;
            const double total = cost + (cost_ - plan_[rejoin_step_].cost);
            if (total > cost_ || rejoin_step_ <= step) return std::nullopt;
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
}

std::optional<ActionRow> PlanLocalSearch::next(const Perturbation& perturbation) {
    std::optional<ActionRow> held;  // the plan's action at the first step of the trial
    if (trajectory_.size() < perturbation.tabu_steps)
        held = ActionRow{plan_[from_].action.action, plan_[from_].row};
    if (trajectory_.size() >= perturbation.policy_steps)
        if (const auto action = planned(held)) return action;
    const uint64_t key = perturbation.key + trajectory_.size();
    if (const auto action = scored_walk_.best(key, perturbation.noise, held)) return action;
    return scored_walk_.best(key, perturbation.noise);
}

// The first action that is left of the plan and derived.
std::optional<ActionRow> PlanLocalSearch::planned(std::optional<ActionRow> excluded) const {
    uint32_t first = none;
    scored_walk_.walk().visit_actions([&](ActionRow action) {
        const auto& rows = first_with_[index(action.action)];
        if (action == excluded || action.row >= rows.size()) return;
        for (uint32_t at = rows[action.row]; at != none; at = next_with_[at]) {
            if (at < from_ || done_in_[at] == trial_) continue;
            first = std::min(first, at);
            break;
        }
    });
    if (first == none) return std::nullopt;
    return ActionRow{plan_[first].action.action, plan_[first].row};
}

void PlanLocalSearch::mark_done(ActionRow action) {
    const auto& rows = first_with_[index(action.action)];
    if (action.row >= rows.size()) return;
    for (uint32_t at = rows[action.row]; at != none; at = next_with_[at]) {
        if (at < from_ || done_in_[at] == trial_) continue;
        done_in_[at] = trial_;
        return;
    }
}

// The way of the trial takes the place of the plan from a step on, up to the step `rejoin_step_`;
// whether that costs less.
bool PlanLocalSearch::splice(size_t step, double cost) {
    const Walk& walk = scored_walk_.walk();
    std::vector<Step> plan;
    std::vector<StateChange> changes;
    const auto append = [&](Step&& added, std::span<const StateChange> its) {
        added.changes = changes.size();
        changes.insert(changes.end(), its.begin(), its.end());
        plan.push_back(std::move(added));
    };
    const auto keep = [&](size_t begin, size_t end, double dearer) {
        for (size_t i = begin; i < end; ++i) {
            const size_t last = i + 1 < plan_.size() ? plan_[i + 1].changes : changes_.size();
            const auto its = std::span(changes_).subspan(plan_[i].changes, last - plan_[i].changes);
            plan_[i].cost += dearer;
            append(std::move(plan_[i]), its);
        }
    };
    keep(0, step, 0);
    for (size_t i = 0; i < trajectory_.size(); ++i) {
        const auto& [action, before, state] = trajectory_[i];
        append({walk.ground(action), action.row, before, 0, state, 1}, walk.changes(i));
    }
    const size_t joined = plan.size();
    keep(rejoin_step_, plan_.size(), cost - cost_);
    plan_ = std::move(plan);
    changes_ = std::move(changes);
    const bool is_better = cost < cost_;
    cost_ = cost;
    scored_walk_.walk().jump({});
    base_ = joined;
    index_plan();
    if (is_better) forget_trials();
    return is_better;
}

// --- Surveys -------------------------------------------------------------------

std::vector<PlanLocalSearch::ActionCost> PlanLocalSearch::action_costs(size_t step) {
    std::vector<ActionRow> actions;
    std::vector<ActionCost> costs;
    while (true) {
        go_to(step);
        actions.clear();
        costs.clear();
        scored_walk_.walk().append_actions(actions);
        bool is_shorter = false;
        for (const ActionRow action : actions) {
            const GroundAction ground = scored_walk_.walk().ground(action);
            if (action.action == plan_[step].action.action && action.row == plan_[step].row) {
                costs.push_back({ground, cost_ - plan_[step].cost});
                continue;
            }
            std::optional<double> cost;  // by the plan, by the policy, or first one, then the other
            for (const size_t policy_steps : {size_t{0}, size_t{4}, SIZE_MAX}) {
                go_to(step);
                cost = rollout(step, action, {1, policy_steps, 0, 0});
                if (cost) break;
            }
            if (cost && *cost < cost_) {
                splice(step, *cost);
                is_shorter = true;
                break;
            }
            costs.push_back({ground, cost ? *cost - plan_[step].cost : infinite});
        }
        if (!is_shorter) return costs;
    }
}

size_t PlanLocalSearch::follow_policy(uint64_t key, size_t most) {
    go_to(0);
    Walk& walk = scored_walk_.walk();
    size_t steps = 0;
    while (steps < most && walk.goals_left() > 0) {
        const auto action = scored_walk_.best(key);
        if (!action) break;
        walk.apply(action->action, walk.arguments(*action));
        ++steps;
        ++expansions_;
    }
    return steps;
}

}  // namespace planlog
