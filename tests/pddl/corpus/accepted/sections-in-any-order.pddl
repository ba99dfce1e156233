; Sections of a domain may come in any order.
(define (domain d)
  (:action a :parameters (?x - t) :effect (p ?x))
  (:predicates (p ?x - t))
  (:types t)
  (:requirements :typing))
;;; problem
(define (problem one)
  (:init (p a))
  (:goal (p a))
  (:objects a - t)
  (:domain d))
