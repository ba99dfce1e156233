; A predicate may be declared again in the same way.
(define (domain d)
  (:predicates (p ?x) (p ?y)))
