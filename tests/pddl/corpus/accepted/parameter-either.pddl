; A parameter may have several types.
(define (domain d)
  (:types t u v)
  (:predicates (p ?x - (either t u)))
  (:action a :parameters (?x - (either u v t)) :precondition (p ?x) :effect (not (p ?x))))
