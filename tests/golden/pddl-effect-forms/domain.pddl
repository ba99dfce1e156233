(define (domain d)
  (:predicates (p ?x) (q))
  (:action a
    :parameters (?x)
    :precondition (p ?x)
    :effect (and (not (q) (q)) (when (q)) (forall ?y (p ?y)) (forall (?y)) q (not (= ?x ?x)) (or (q))))
)
