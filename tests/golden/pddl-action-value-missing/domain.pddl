(define (domain d)
  (:predicates (q))
  (:action a
    :parameters ()
    :precondition :effect (q))
)
