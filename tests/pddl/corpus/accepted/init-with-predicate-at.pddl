; A predicate 'at'.
(define (domain d)
  (:predicates (at ?x ?y) (over ?x) (preference ?x)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a)
  (:init (at a a) (over a) (preference a))
  (:goal (preference a)))
