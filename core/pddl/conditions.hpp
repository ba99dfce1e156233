// Conditions of PDDL, and their compilation into literals and axioms.
//
// A condition is read in negation normal form. Each part that is not a conjunction of literals then
// becomes an auxiliary predicate over its free variables (as in Helmert 2009):
//   (or A B)            aux(x) <- A;  aux(x) <- B
//   (exists (y) A)      aux(x) <- A, with y among the rule's variables
//   (forall (y) A)      not aux(x), where aux(x) <- not A
#pragma once

#include "pddl/names.hpp"

namespace planlog {

// In negation normal form: only literals and NotExists are negated.
struct Condition {
    enum class Kind : uint8_t { Literal, And, Or, Exists, NotExists };

    Kind kind = Kind::And;              // without children: true; an Or without children: false
    Literal literal{};                  // its variables are numbers of the scope
    std::vector<uint32_t> variables{};  // quantified ones, numbers of the scope
    std::vector<Condition> children{};  // one for the quantifiers
};

// Reads the condition, or its negation. Errors are reported, and the part is taken as true.
Condition read_condition(Context& context, Scope& scope, Expr expr, bool negated = false);

// Compiles conditions. It appends auxiliary predicates, with ids from `first_id` on, and axioms to
// the given lists.
class ConditionCompiler {
  public:
    ConditionCompiler(std::vector<Predicate>& predicates, size_t first_id,
                      std::vector<Axiom>& axioms)
        : predicates_(predicates), first_id_(first_id), axioms_(axioms) {}

    // Literals over the scope's variables whose conjunction is the condition. The names of
    // auxiliary predicates begin with the owner's, such as an action's.
    std::vector<Literal> literals(const Condition& condition, const Scope& scope,
                                  const std::string& owner);
    // One literal that holds if the condition does. It has the free variables of the condition.
    Literal literal(const Condition& condition, const Scope& scope, const std::string& owner);
    // Adds the axioms by which the head holds, for these variables, if the condition does.
    void define(PredicateId head, const std::vector<uint32_t>& head_variables,
                const Condition& condition, const Scope& scope, const std::string& owner);
    // Counts the parts that compilation copies. Returns false beyond a limit, so that a small text
    // cannot produce a huge domain.
    bool charge(size_t amount);

  private:
    void add_axioms(PredicateId head, size_t arity, std::vector<uint32_t> variables,
                    const Condition& condition);
    void append(const Condition& condition, std::vector<Literal>& body,
                std::vector<uint32_t>* variables);
    Literal auxiliary(const Condition& condition);

    std::vector<Predicate>& predicates_;
    size_t first_id_;
    std::vector<Axiom>& axioms_;
    const Scope* scope_ = nullptr;
    std::string owner_;
    size_t copied_ = 0;
};

}  // namespace planlog
