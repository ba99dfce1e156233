; The requirement :goal-utilities.
(define (domain d)
  (:requirements :strips :goal-utilities))
