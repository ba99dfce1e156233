// Conditions of PDDL, and their compilation into literals and axioms.
//
// A condition is read in negation normal form. What is more than a conjunction of
// literals then becomes an auxiliary predicate over the variables it mentions:
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

// Reads the condition, or its negation. Mistakes are reported and read as true.
Condition read_condition(Context& context, Scope& scope, Expr expr, bool negated = false);

// Writes auxiliary predicates and axioms to the end of the given lists. Its predicates
// are numbered on from `first_id`.
class ConditionCompiler {
  public:
    ConditionCompiler(std::vector<Predicate>& predicates, size_t first_id,
                      std::vector<Axiom>& axioms)
        : predicates_(predicates), first_id_(first_id), axioms_(axioms) {}

    // Literals over the scope's variables whose conjunction is the condition. The owner
    // (an action, say) gives the auxiliary predicates their names.
    std::vector<Literal> literals(const Condition& condition, const Scope& scope,
                                  const std::string& owner);
    // Adds the axioms by which the head holds, for these variables, if the condition does.
    void define(PredicateId head, const std::vector<uint32_t>& head_variables,
                const Condition& condition, const Scope& scope, const std::string& owner);
    // Counts what is copied from one place of the text to many, and answers whether that
    // is still reasonable: a small text must not make a huge domain.
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
