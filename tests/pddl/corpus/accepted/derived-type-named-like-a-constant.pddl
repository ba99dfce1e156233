; A type and a constant may have one name.
(define (domain d)
  (:types t)
  (:constants t k - t)
  (:predicates (p ?x - t) (q ?x - t))
  (:derived (q ?x - t) (p ?x))
  (:action a :parameters (?t - t) :precondition (q t) :effect (p ?t)))
;;; problem
(define (problem one)
  (:domain d)
  (:init (p t))
  (:goal (p k)))
