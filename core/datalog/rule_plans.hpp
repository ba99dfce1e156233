// The join plans of a program's rules. They depend on the sizes of the relations and are chosen
// again when these have changed by a large factor.
#pragma once

#include <vector>

#include "datalog/compiled_program.hpp"

namespace planlog {

class RulePlans {
  public:
    explicit RulePlans(const CompiledProgram& program);

    const JoinPlan& full(uint32_t rule) const { return plans_[rule].full; }
    const JoinPlan& triggered(uint32_t rule, uint32_t literal) const {
        return plans_[rule].triggered[literal];
    }
    // Grows when the plans for triggers are chosen again.
    uint64_t version() const { return version_; }

    // Plans add the indexes that they need to the program's relations. Evaluation from scratch
    // plans a component just before evaluating it, when the sizes of its inputs are known.
    void before_component(uint32_t component, std::vector<Relation>& relations);
    void after_evaluation(const std::vector<Relation>& relations);
    void before_update(std::vector<Relation>& relations);

  private:
    struct Plans {
        JoinPlan full;
        std::vector<JoinPlan> triggered;  // per literal; only where its relation can change
    };

    void plan_triggers(std::vector<Relation>& relations);
    void remember_sizes(const std::vector<Relation>& relations);
    bool is_stale(const std::vector<Relation>& relations) const;

    const CompiledProgram* program_;
    std::vector<Plans> plans_;   // per rule
    std::vector<size_t> sizes_;  // of the relations, when plans were chosen
    uint64_t version_ = 0;
    uint64_t updates_ = 0;      // since the last evaluation from scratch
    uint64_t next_review_ = 8;  // of the plans, in updates
    bool has_full_plans_ = false;
    bool has_trigger_plans_ = false;
};

}  // namespace planlog
