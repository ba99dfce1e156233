; A predicate cannot have the name of a connective.
(define (domain d)
  (:predicates (and ?x)))
