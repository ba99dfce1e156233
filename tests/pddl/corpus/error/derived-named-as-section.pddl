; The head of an axiom has the name of a section, so that a parenthesis seems to be missing.
(define (domain d)
  (:requirements :derived-predicates)
  (:predicates (p))
  (:derived (:types ?x) (p)))
