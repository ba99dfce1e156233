(define (domain d)
  (:predicates (q))
  (:action a
    :parameters ()
    :preconditions (q)
    :effect (q))
)
