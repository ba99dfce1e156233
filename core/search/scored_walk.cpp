#include "search/scored_walk.hpp"

namespace planlog {

ScoredWalk::ScoredWalk(const Task& task, AtomTable& atoms, const Program& program,
                       const Network* network)
    : walk_(task, atoms, program) {
    if (!network) return;
    inference_.emplace(*network);
    walk_.materialization().track_derivations();
}

const std::vector<ScoredAction>& ScoredWalk::scored() {
    scored_.clear();
    Materialization& materialization = walk_.materialization();
    if (inference_) inference_->update(materialization);
    walk_.visit_actions([&](ActionRow action) {
        float score = 0;
        if (inference_)
            score = *inference_->value(*materialization.program().find_action(action.action),
                                       action.row);
        scored_.push_back({action, score});
    });
    return scored_;
}

std::optional<ActionRow> ScoredWalk::best(uint64_t key, double noise,
                                          std::optional<ActionRow> excluded) {
    std::optional<ActionRow> best;
    double highest = 0;
    for (const auto& [action, score] : scored()) {
        if (action == excluded) continue;
        const double value = noise > 0 ? score + noise * walk_.gumbel(action, key) : score;
        if (best && (value < highest ||
                     (value == highest && walk_.hash(action, key) >= walk_.hash(*best, key))))
            continue;
        best = action;
        highest = value;
    }
    return best;
}

std::optional<ActionRow> ScoredWalk::best_by_name() {
    std::optional<ScoredAction> best;
    for (const ScoredAction& one : scored())
        if (!best || one.score > best->score ||
            (one.score == best->score && walk_.is_named_before(one.action, best->action)))
            best = one;
    if (!best) return std::nullopt;
    return best->action;
}

}  // namespace planlog
