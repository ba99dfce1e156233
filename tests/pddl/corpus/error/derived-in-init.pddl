; The initial state has a derived predicate.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:derived (q ?x) (p ?x)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init (q a))
  (:goal (w)))
