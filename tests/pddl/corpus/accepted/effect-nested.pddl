; Effects may be nested.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a
    :parameters (?x - t)
    :precondition (z)
    :effect (and (forall (?y - t) (when (q ?y) (forall (?z - t) (when (p ?z) (and (q ?z) (not (p ?y))))))) (and))))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init (z))
  (:goal (w)))
