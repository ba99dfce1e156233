(define (domain d)
  (:predicates (p ?x) (q))
  (:action a
    :parameters (?x)
    :precondition (not (not (imply (q) (not (= ?x ?x)))))
    :effect (q))
)
