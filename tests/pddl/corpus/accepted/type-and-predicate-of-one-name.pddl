; A type and a predicate may have one name.
(define (domain d)
  (:types block)
  (:predicates (block ?x - block) (z))
  (:action a :parameters (?x - block) :precondition (block ?x) :effect (z)))
