; An unknown type.
(define (domain d)
  (:types t)
  (:predicates (p ?x - s)))
