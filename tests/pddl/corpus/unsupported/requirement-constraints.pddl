; The requirement :constraints.
(define (domain d)
  (:requirements :strips :constraints))
