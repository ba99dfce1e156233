; The predicate '=' may be declared.
(define (domain d)
  (:predicates (= ?x ?y) (z))
  (:action a :parameters (?x ?y) :precondition (not (= ?x ?y)) :effect (z)))
