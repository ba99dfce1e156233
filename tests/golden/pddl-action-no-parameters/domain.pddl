(define (domain d)
  (:predicates (q))
  (:action a
    :effect (q))
)
