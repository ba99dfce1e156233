; A type may be declared again, with another super-type.
(define (domain d)
  (:types area - object area crate - surface surface)
  (:predicates (on ?x - surface) (z))
  (:action a :parameters (?x - area) :precondition (on ?x) :effect (z)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a - area)
  (:init (on a))
  (:goal (z)))
