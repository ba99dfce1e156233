(define (domain d)
  (:predicates (p ?x) (q))
  (:action a
    :parameters (?x)
    :precondition (and (not) (imply (q)) (exists ?y (p ?y)) (forall (?y)) (= ?x) q ((q)))
    :effect (q))
)
