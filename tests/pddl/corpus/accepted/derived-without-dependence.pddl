; A true condition does not depend on its parts.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:derived (z) (or (not (z)) (= k k))))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a b - t c - u)
  (:init )
  (:goal (z)))
