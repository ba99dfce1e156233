// Reads the actions of a domain: parameters, precondition, effects and costs.
#pragma once

#include <string_view>

#include "conditions.hpp"
#include "pddl_names.hpp"

namespace planlog {

// For a condition or effect whose copies would fill the memory.
constexpr const char* too_large = "the conditions and effects of this definition are too large";

class ActionReader {
public:
    // The domain is the context's, to which actions are added.
    ActionReader(Context& context, Domain& domain, ConditionCompiler& compiler)
        : context_(context), domain_(domain), compiler_(compiler) {}

    void read(Expr section);

private:
    // Where an effect stands: variables quantified and conditions given around it.
    struct Surroundings {
        std::vector<Parameter> quantified;
        std::vector<Literal> condition;
    };

    void read_effect(Expr expr, Surroundings& around);
    void read_forall(Expr expr, Surroundings& around);
    void read_when(Expr expr, Surroundings& around);
    void read_cost(Expr expr, const Surroundings& around);
    void read_atom_effect(Expr expr, bool negated, const Surroundings& around);
    void renumber(std::vector<Term>& terms) const;

    Context& context_;
    Domain& domain_;
    ConditionCompiler& compiler_;
    Names action_names_;
    Action action_;
    Scope scope_;
    // Of a scope's variable, its number in the effect: parameters, then quantified ones.
    std::vector<uint32_t> effect_numbers_;
};

}  // namespace planlog
