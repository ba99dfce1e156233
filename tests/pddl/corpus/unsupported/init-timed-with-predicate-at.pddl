; A timed literal beside a predicate 'at'.
(define (domain d)
  (:predicates (at ?x ?y) (z)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a)
  (:init (at 5 (z)))
  (:goal (z)))
