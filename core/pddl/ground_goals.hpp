// Ground literals of goals that are written with quantifiers, implications or disjunctions.
//
// Quantifiers range over the objects of the task. Equalities, and atoms that no action changes, are
// evaluated in the initial state. If a conjunction of literals remains of a condition, its literals
// are goals like any other, and rules can see them. Otherwise the condition remains a condition.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "pddl/conditions.hpp"

namespace planlog {

// The parts of which the condition is the conjunction: (forall x (and A B)) has the parts
// (forall x A) and (forall x B).
std::vector<Condition> conjuncts(Condition condition);

// The predicates of the condition's atoms, without repetition.
std::vector<PredicateId> predicates_of(const Condition& condition);

// Reads conditions of one goal. It limits their total size, so that a small text cannot produce a
// huge goal.
class GoalGrounder {
  public:
    using IsInitial = std::function<bool(PredicateId, const std::vector<ObjectId>&)>;

    // `is_initial` tells whether an atom is in the initial state.
    GoalGrounder(const Context& context, IsInitial is_initial)
        : context_(context), is_initial_(std::move(is_initial)) {}

    // Ground literals whose conjunction is the condition, possibly with repetitions. Nothing if a
    // disjunction remains, if the condition is false, or if the goal is too large.
    std::optional<std::vector<Literal>> literals(const Condition& condition, const Scope& scope);

  private:
    // What remains of a condition: a truth value, a conjunction of literals, or something else.
    enum class Rest : uint8_t { True, False, Literals, Other };

    Rest ground(const Condition& condition, bool negated);
    Rest ground_members(const Condition& condition, bool negated);
    Rest ground_literal(const Literal& literal, bool negated);
    template <class Visitor>
    bool visit_members(const Condition& condition, size_t variable, Visitor visit);
    const std::vector<ObjectId>& objects_of(const std::vector<TypeId>& types);
    bool may_hold(const Predicate& predicate, const std::vector<ObjectId>& row) const;
    bool is_too_large() const;

    const Context& context_;
    IsInitial is_initial_;
    std::map<std::vector<TypeId>, std::vector<ObjectId>> objects_of_;
    const Scope* scope_ = nullptr;
    std::vector<ObjectId> binding_;  // per variable of the scope
    std::vector<Literal> found_;
    size_t literal_count_ = 0;  // of all conditions so far
    size_t step_count_ = 0;
};

}  // namespace planlog
