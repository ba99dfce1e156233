; An unsupported feature comes before errors.
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
  (:objects a a - nothing)
  (:init (nothing) (at 5 (z)))
  (:goal (w)))
