; Two objects of one name.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a
    :parameters (?x - t)
    :precondition (z)
    :effect (w)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a a - t)
  (:init (z))
  (:goal (w)))
