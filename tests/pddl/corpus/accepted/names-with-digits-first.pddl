; Names may begin with a digit, or be numbers.
(define (domain d)
  (:predicates (2nd ?x) (3))
  (:action 1 :parameters (?1) :precondition (2nd ?1) :effect (3)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects 7 8-9)
  (:init (2nd 7))
  (:goal (3)))
