(define (domain d)
  (:predicates (p ?x) (q))
  (:action a
    :parameters (?x)
    :precondition (and (preference one (p ?x)) (always (q)))
    :effect (q))
)
