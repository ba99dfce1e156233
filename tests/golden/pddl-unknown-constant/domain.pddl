(define (domain d)
  (:constants table)
  (:predicates (on ?x ?y))
  (:action a
    :parameters (?x)
    :precondition (on ?x tabel)
    :effect (not (on ?x (table))))
)
