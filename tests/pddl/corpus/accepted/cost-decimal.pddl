; Costs may be decimals.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a
    :parameters (?x - t)
    :precondition (z)
    :effect (increase (total-cost) 1.5)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init (= (total-cost) 0) (= (f a) 0.25))
  (:goal (w))
  (:metric minimize (total-cost)))
