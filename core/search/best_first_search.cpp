#include "search/best_first_search.hpp"

#include <algorithm>
#include <cmath>

namespace planlog {

namespace {

// Expansions of a queue before the next one has its turn. States of a queue resemble each other, so
// going from one to the next changes few atoms.
constexpr uint32_t turn_length = 64;

template <class Entry>
void push(std::vector<Entry>& heap, Entry entry) {
    heap.push_back(entry);
    std::push_heap(heap.begin(), heap.end());
}

template <class Entry>
Entry pop_from(std::vector<Entry>& heap) {
    std::pop_heap(heap.begin(), heap.end());
    const Entry entry = heap.back();
    heap.pop_back();
    return entry;
}

// Without an instruction of the processor, std::popcount is a call.
uint32_t bit_count(uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555;
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<uint32_t>(bits * 0x0101010101010101 >> 56);
}

// Fewer discrepancies first, then lower costs, which are not negative.
uint64_t key_of(uint32_t discrepancies, double cost) {
    return uint64_t{discrepancies} << 48 |
           static_cast<uint64_t>(std::min(cost * 0x1p32, 0x1p48 - 1));
}

}  // namespace

BestFirstSearch::BestFirstSearch(const Task& task, AtomTable& atoms, const Program& program,
                                 std::span<const AtomId> start, Options options)
    : successors_(task, atoms, program, start), options_(std::move(options)) {
    if (options_.network) {
        inference_.emplace(*options_.network);
        successors_.walk().materialization().track_derivations();
    }
    const auto& predicates = task.domain->predicates;
    for (const Literal& literal : task.goal) {
        const bool is_basic = index(literal.predicate) < predicates.size() &&
                              predicates[index(literal.predicate)].kind == PredicateKind::Basic &&
                              predicates[index(literal.predicate)].fluent;
        if (is_basic)
            goals_.push_back({literal.predicate, object_row(literal.terms), !literal.negated});
        else
            has_other_goals_ = true;
        has_unwanted_ = has_unwanted_ || literal.negated;
    }
    nodes_.push_back({StateSet::none, 0, 0, false});
    enqueue(0, 0);
}

// --- Queues ------------------------------------------------------------------

uint32_t BestFirstSearch::enqueue(uint32_t state, double log_probability) {
    const Node& node = nodes_[state];
    const uint32_t left = goals_left(state);
    if (options_.has_rules) {
        if (node.discrepancies >= stacks_.size()) stacks_.resize(node.discrepancies + size_t{1});
        stacks_[node.discrepancies].push_back(state);
    }
    std::vector<Bucket>& buckets = by_goals_[is_novel(state, left) ? 0 : 1];
    if (left >= buckets.size()) buckets.resize(left + size_t{1});
    buckets[left].states.push_back(state);
    if (!inference_) return left;
    const uint32_t depth = state == 0 ? 0 : depths_[node.parent] + 1;
    depths_.push_back(depth);
    log_probabilities_.push_back(static_cast<float>(log_probability));
    const double cost = std::max(0.0, std::log1p(depth) - log_probability);
    push(by_level_, {key_of(node.discrepancies, cost), state});
    return left;
}

std::optional<uint32_t> BestFirstSearch::pop_by_goals() {
    for (std::vector<Bucket>& buckets : by_goals_) {
        for (auto& [states, taken] : buckets) {
            if (taken == states.size()) continue;
            const uint32_t state = states[taken++];
            if (taken == states.size()) {
                states.clear();
                taken = 0;
            }
            return state;
        }
    }
    return std::nullopt;
}

std::optional<uint32_t> BestFirstSearch::pop_deepest() {
    for (Stack& stack : stacks_) {
        if (stack.empty()) continue;
        const uint32_t state = stack.back();
        stack.pop_back();
        return state;
    }
    return std::nullopt;
}

std::optional<uint32_t> BestFirstSearch::pop() {
    constexpr uint32_t queues = 3;
    for (uint32_t tried = 0; tried <= queues;) {
        const uint32_t queue = turn_ / turn_length % queues;
        std::optional<uint32_t> state;
        if (queue == 0) {
            state = pop_deepest();
        } else if (queue == 1) {
            state = pop_by_goals();
        } else if (!by_level_.empty()) {
            state = pop_from(by_level_).state;
        }
        if (!state) {
            turn_ = (turn_ / turn_length + 1) * turn_length;
            ++tried;
        } else if (!nodes_[*state].is_expanded) {
            ++turn_;
            return state;
        }
    }
    return std::nullopt;
}

// --- Goals and novelty -------------------------------------------------------

// Looks for goals among the atoms that were met lately.
void BestFirstSearch::find_goal_atoms() {
    const AtomList& atoms = successors_.states().atoms();
    wanted_.resize(successors_.states().width());
    unwanted_.resize(wanted_.size());
    for (; atoms_known_ < atoms.size(); ++atoms_known_) {
        const auto is_goal = [&](const Goal& goal) {
            return goal.predicate == atoms.symbols[atoms_known_] &&
                   std::equal(goal.values.begin(), goal.values.end(), atoms.row(atoms_known_));
        };
        const uint64_t bit = uint64_t{1} << atoms_known_ % 64;
        for (const Goal& goal : goals_)
            if (is_goal(goal)) (goal.wanted ? wanted_ : unwanted_)[atoms_known_ / 64] |= bit;
        std::erase_if(goals_, is_goal);
    }
}

uint32_t BestFirstSearch::goals_left(uint32_t state) {
    if (atoms_known_ < successors_.states().atoms().size()) find_goal_atoms();
    const uint64_t* bits = successors_.states().state(state);
    auto left = static_cast<uint32_t>(std::ranges::count(goals_, true, &Goal::wanted));
    for (size_t word = 0; word < wanted_.size(); ++word)
        left += bit_count(wanted_[word] & ~bits[word]);
    if (has_unwanted_)
        for (size_t word = 0; word < unwanted_.size(); ++word)
            left += bit_count(unwanted_[word] & bits[word]);
    return left;
}

// Whether no state with as many goals left had some atom of this one.
bool BestFirstSearch::is_novel(uint32_t state, uint32_t left) {
    if (left >= seen_.size()) seen_.resize(left + size_t{1});
    std::vector<uint64_t>& seen = seen_[left];
    const size_t width = successors_.states().width();
    if (seen.size() < width) seen.resize(width);
    const uint64_t* bits = successors_.states().state(state);
    uint64_t unseen = 0;
    for (size_t word = 0; word < width; ++word) {
        unseen |= bits[word] & ~seen[word];
        seen[word] |= bits[word];
    }
    return unseen != 0;
}

// --- Expansion ---------------------------------------------------------------

uint32_t BestFirstSearch::level(ActionRow action) {
    if (options_.levels.empty()) return 0;
    const Materialization& materialization = successors_.walk().materialization();
    const RelationId relation = *materialization.program().find_action(action.action);
    uint32_t least = UINT32_MAX;
    materialization.derivations().derivations_of(
        {relation, action.row}, [&](uint32_t rule, const Row*) {
            least = std::min(least, rule < options_.levels.size() ? options_.levels[rule] : 0);
        });
    return least;
}

// Lists the derived actions, the best one last.
void BestFirstSearch::rank_actions() {
    Walk& walk = successors_.walk();
    Materialization& materialization = walk.materialization();
    if (inference_) inference_->update(materialization);
    ranked_.clear();
    walk.visit_actions([&](ActionRow action) {
        float score = 0;
        if (inference_)
            score = *inference_->value(*materialization.program().find_action(action.action),
                                       action.row);
        ranked_.push_back({action, level(action), score, 0});
    });
    if (options_.levels.empty() && !inference_) return;
    std::ranges::stable_sort(ranked_, [](const Ranked& one, const Ranked& other) {
        return one.level != other.level ? one.level > other.level : one.score < other.score;
    });
    if (inference_) find_probabilities();
}

// Replaces scores by the logarithms of their softmax.
void BestFirstSearch::find_probabilities() {
    if (ranked_.empty()) return;
    const float highest = std::ranges::max_element(ranked_, {}, &Ranked::score)->score;
    double total = 0;
    for (const Ranked& one : ranked_) total += std::exp(one.score - highest);
    for (Ranked& one : ranked_) one.log_probability = one.score - highest - std::log(total);
}

void BestFirstSearch::expand(uint32_t state) {
    nodes_[state].is_expanded = true;
    ++expanded_;
    successors_.visit(state);
    Walk& walk = successors_.walk();
    if (walk.goals_left() == 0) {
        goal_ = state;
        return;
    }
    if (options_.dead && walk.materialization().relation(*options_.dead).holds(nullptr)) {
        ++dead_;
        return;
    }
    rank_actions();
    const double before = inference_ ? log_probabilities_[state] : 0;
    for (const Ranked& one : ranked_) {
        steps_.step();
        const uint32_t discrepancy = one.level - ranked_.back().level;
        if (!add_child(state, one.action, discrepancy, before + one.log_probability)) return;
    }
}

// Returns false if there is no room for the child, or if it is a goal.
bool BestFirstSearch::add_child(uint32_t state, ActionRow action, uint32_t discrepancy,
                                double log_probability) {
    const uint32_t child = successors_.successor(state, action, options_.limit);
    if (child == StateSet::none) {
        is_full_ = true;
        return false;
    }
    if (child < nodes_.size()) return true;
    const uint32_t discrepancies =
        std::min<uint32_t>(nodes_[state].discrepancies + discrepancy, UINT16_MAX);
    nodes_.push_back(
        {state, successors_.action_number(action), static_cast<uint16_t>(discrepancies), false});
    if (enqueue(child, log_probability) > 0 || has_other_goals_) return true;
    goal_ = child;
    return false;
}

void BestFirstSearch::add_path(const std::vector<GroundAction>& path) {
    uint32_t state = 0;
    for (const GroundAction& action : path) {
        successors_.visit(state);
        const auto row = successors_.walk().find_derived(action.action, action.arguments.data());
        if (!row || is_full_) return;
        if (!add_child(state, *row, 0, inference_ ? log_probabilities_[state] : 0)) return;
        state = successors_.successor(state, *row, options_.limit);
    }
}

BestFirstSearch::Outcome BestFirstSearch::advance(size_t count) {
    for (; count > 0 && !goal_ && !is_full_; --count) {
        const auto state = pop();
        if (!state) return Outcome::Exhausted;
        if (expanded_ % 64 == 0) interruption_point();
        expand(*state);
    }
    if (goal_) return Outcome::Solved;
    return is_full_ ? Outcome::Full : Outcome::Running;
}

std::vector<GroundAction> BestFirstSearch::plan() const {
    std::vector<GroundAction> plan;
    const ActionList& actions = successors_.actions();
    for (uint32_t state = goal_.value(); state != 0; state = nodes_[state].parent) {
        const uint32_t number = nodes_[state].action;
        const ObjectId* arguments = actions.row(number);
        plan.push_back({actions.symbols[number], {arguments, arguments + actions.arity(number)}});
    }
    std::ranges::reverse(plan);
    return plan;
}

size_t BestFirstSearch::memory() const {
    const auto bytes = [](const auto& vector) {
        return vector.capacity() * sizeof(*vector.data());
    };
    size_t total = successors_.states().memory() + bytes(nodes_) + bytes(log_probabilities_) +
                   bytes(depths_) + bytes(by_level_);
    for (const Stack& stack : stacks_) total += bytes(stack);
    for (const auto& buckets : by_goals_)
        for (const Bucket& bucket : buckets) total += bytes(bucket.states);
    return total;
}

}  // namespace planlog
