; A super-type may be declared after its sub-type.
(define (domain d)
  (:types a - b b - c c)
  (:predicates (p ?x - c))
  (:constants k - a))
