; An object of a type with two super-types is of both.
(define (domain d)
  (:types boat - vehicle boat - house house vehicle)
  (:predicates (afloat ?v - vehicle) (home ?h - house) (both ?v - vehicle))
  (:action a :parameters (?v - vehicle) :precondition (home ?v) :effect (both ?v)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects b - boat h - house)
  (:init (afloat b) (home b))
  (:goal (both b)))
