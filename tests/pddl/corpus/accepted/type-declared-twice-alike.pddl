; A type declared again in the same way.
(define (domain d)
  (:types t t - object t)
  (:predicates (p ?x - t)))
