(define (domain d)
  (:predicates (on-table ?x) (on ?x ?y))
  (:action a
    :parameters (?x)
    :precondition (ontable ?x)
    :effect (and (not (ontable ?x)) (flies ?x)))
)
