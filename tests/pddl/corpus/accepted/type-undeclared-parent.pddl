; A super-type may be undeclared.
(define (domain d)
  (:types car - vehicle)
  (:predicates (p ?x - vehicle)))
