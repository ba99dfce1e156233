; A type is named only above another one, and has an object.
(define (domain d)
  (:requirements :typing)
  (:types lamp - switch)
  (:constants s - switch)
  (:predicates (p ?x - switch))
  (:action a :parameters (?x - switch) :effect (p ?x)))
