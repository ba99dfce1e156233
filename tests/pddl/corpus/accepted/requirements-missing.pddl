; Features may be used without their requirement.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a
    :parameters (?x - t)
    :precondition (not (or (z) (exists (?y) (p ?x))))
    :effect (when (w) (not (z)))))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init (z))
  (:goal (w)))
