; The name of the problem begins with a colon, as a keyword does.
(define (domain d)
  (:predicates (p)))
;;; problem
(define (problem :one) (:domain d) (:init) (:goal (and)))
