; A question mark alone is no variable.
(define (domain d)
  (:predicates (r ?)))
