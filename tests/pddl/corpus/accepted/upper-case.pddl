; Upper and lower case are the same.
(define (domain d)
  (:PREDICATES (P ?X) (q ?x))
  (:Action A :Parameters (?x) :PRECONDITION (p ?X) :effect (AND (Q ?x))))
;;; problem
(define (problem one)
  (:domain d)
  (:objects a)
  (:init (p A))
  (:goal (AND (q a))))
