; A predicate is declared again with other parameters.
(define (domain d)
  (:predicates (p ?x) (p ?x ?y)))
