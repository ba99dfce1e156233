#include "datalog/rule_plans.hpp"

namespace planlog {

RulePlans::RulePlans(const CompiledProgram& program)
    : program_(&program), plans_(program.rules.size()) {
    for (size_t r = 0; r < plans_.size(); ++r)
        plans_[r].triggered.resize(program.rules[r].query.body.size());
}

void RulePlans::before_component(uint32_t c, std::vector<Relation>& relations) {
    if (has_full_plans_) return;
    JoinPlanner planner(relations);
    for (uint32_t r : program_->components[c].rules) {
        const CompiledRule& rule = program_->rules[r];
        if (rule.own.empty())
            plans_[r].full = planner.plan(rule.query, std::nullopt);
        else
            for (uint32_t l : rule.own) plans_[r].triggered[l] = planner.plan(rule.query, l);
    }
}

void RulePlans::after_evaluation(const std::vector<Relation>& relations) {
    if (!has_full_plans_) remember_sizes(relations);
    has_full_plans_ = !is_stale(relations);  // else they are chosen again for the next state
    updates_ = 0;
    next_review_ = 8;
}

// A review takes time linear in the number of relations, so the intervals between reviews double.
void RulePlans::before_update(std::vector<Relation>& relations) {
    if (!has_trigger_plans_) plan_triggers(relations);
    if (++updates_ != next_review_) return;
    next_review_ *= 2;
    if (is_stale(relations)) plan_triggers(relations);
}

void RulePlans::plan_triggers(std::vector<Relation>& relations) {
    JoinPlanner planner(relations);
    for (size_t r = 0; r < plans_.size(); ++r) {
        const CompiledRule& rule = program_->rules[r];
        for (uint32_t l = 0; l < rule.query.body.size(); ++l)
            if (rule.is_linked(l)) plans_[r].triggered[l] = planner.plan(rule.query, l);
    }
    has_trigger_plans_ = true;
    ++version_;
    remember_sizes(relations);
}

void RulePlans::remember_sizes(const std::vector<Relation>& relations) {
    sizes_.clear();
    for (const Relation& relation : relations) sizes_.push_back(relation.size());
}

bool RulePlans::is_stale(const std::vector<Relation>& relations) const {
    for (size_t i = 0; i < sizes_.size(); ++i) {
        const size_t now = relations[i].size(), then = sizes_[i];
        if (now > 4 * then + 64 || then > 4 * now + 64) return true;
    }
    return false;
}

}  // namespace planlog
