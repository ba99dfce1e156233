; Names may contain + . @ : / and more.
(define (domain d)
  (:types a+b c.d - e@f e@f)
  (:constants x:1 y/2 #3 - a+b)
  (:predicates (at:now ?v+w - e@f) (<) (50%))
  (:action go.to :parameters (?v.1 - a+b) :precondition (at:now ?v.1) :effect (50%)))
;;; problem
(define (problem one)
  (:domain d)
  (:objects z_1')
  (:init (at:now x:1) (<))
  (:goal (50%)))
