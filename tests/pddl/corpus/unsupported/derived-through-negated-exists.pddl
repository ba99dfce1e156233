; The same with 'exists' under a negation.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:derived (z) (not (exists (?y - t) (not (and (p ?y) (z)))))))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init (z))
  (:goal (w)))
