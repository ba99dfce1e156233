; A derived predicate with types, recursive.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:derived (q ?x - t) (or (p ?x) (exists (?y - t) (and (q ?y) (z))))))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init (z))
  (:goal (w)))
