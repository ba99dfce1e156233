; A problem has an initial state.
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
  (:objects a b - t c - u)
  
  (:goal (w)))
