// The reader of action schemas: parameters, precondition, effects and costs.
#pragma once

#include "pddl/conditions.hpp"

namespace planlog {

class ActionReader {
  public:
    // Adds the actions to `domain`, which is the context's.
    ActionReader(Context& context, Domain& domain, ConditionCompiler& compiler)
        : context_(context), domain_(domain), compiler_(compiler) {}

    void read(Expr section);

  private:
    // The context of a nested effect: the enclosing quantified variables and conditions.
    struct Surroundings {
        std::vector<Parameter> quantified;
        std::vector<Literal> condition;
    };

    void read_effect(Expr expr, Surroundings& around);
    void read_forall(Expr expr, Surroundings& around);
    void read_when(Expr expr, Surroundings& around);
    void read_cost(Expr expr, const Surroundings& around);
    void read_change(Expr expr, bool negated, const Surroundings& around);
    void renumber(std::vector<Term>& terms) const;

    Context& context_;
    Domain& domain_;
    ConditionCompiler& compiler_;
    Names names_;  // of the actions read so far
    Action action_;
    Scope scope_;
    // Per variable of the scope: its number in the effect (parameters, then quantified ones).
    std::vector<uint32_t> effect_numbers_;
};

}  // namespace planlog
