; An argument may be of a wider type.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a :parameters (?x) :precondition (p ?x) :effect (z)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init (z))
  (:goal (w)))
