(define (domain d)
  (:types t)
  (:predicates (p ?x - t) (q))
  (:action a
    :parameters (?x - t)
    :precondition (or (not (p ?x)) (exists (?y - t) (p ?y)))
    :effect (when (q) (not (q))))
)
