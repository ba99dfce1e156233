(define (domain d)
  (:requirements :numeric-fluents)
  (:predicates (p))
  (:functions (fuel) - number)
  (:action a
    :parameters ()
    :precondition (and (p) (>= (fuel) 3) (= (fuel) 4))
    :effect (and (decrease (fuel) 1) (assign (fuel) 0) (increase (fuel) 2)))
)
