(define (domain trucks)
  (:predicates (p)))
