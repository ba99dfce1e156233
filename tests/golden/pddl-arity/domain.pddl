(define (domain d)
  (:predicates (on ?x ?y) (clear ?x))
  (:action a
    :parameters (?x ?y)
    :precondition (on ?x)
    :effect (clear ?x ?y))
)
