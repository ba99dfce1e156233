(define (domain d)
  (:predicates (p ?x))
  (:action a
    :parameters (x ?y ?y - object ?)
    :precondition (p ?x)
    :effect (not (p ?y)))
)
