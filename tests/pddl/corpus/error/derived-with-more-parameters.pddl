; The head of an axiom has more arguments than the predicate's declaration.
(define (domain d)
  (:requirements :derived-predicates)
  (:predicates (p) (q ?x))
  (:derived (q ?x ?y) (p)))
