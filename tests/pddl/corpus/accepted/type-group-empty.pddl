; A type of nothing.
(define (domain d)
  (:types t - object - board)
  (:constants - t k - t)
  (:predicates (p - t ?x - t)))
