(define (domain d)
  (:predicates (p ?x) (q))
  (:action a
    :parameters (?x)
    :precondition (p ?x)
    :effect (q))
  (:action A :parameters ())
)
