; A question mark begins a variable without a space before it.
(define (domain d)
  (:predicates (on?x - object?y) (z))
  (:action a :parameters (?x?y) :precondition (on?x?y) :effect (z)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b)
  (:init (z))
  (:goal (z)))
