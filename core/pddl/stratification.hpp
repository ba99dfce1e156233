// The stratification test of derived predicates: no recursion goes through a negation.
#pragma once

#include <optional>
#include <string>

#include "pddl/domain.hpp"

namespace planlog {

// A recursion of derived predicates through a negation.
struct NegativeCycle {
    PredicateId predicate;  // one on the cycle, declared by the user
    std::string path;       // "'a' -> not 'b' -> 'a'"
    // All negations come in pairs, from `forall`: correct PDDL, but not stratified.
    bool only_forall;
};

std::optional<NegativeCycle> find_negative_cycle(const Domain& domain);

}  // namespace planlog
