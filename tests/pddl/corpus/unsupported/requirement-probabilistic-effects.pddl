; The requirement :probabilistic-effects.
(define (domain d)
  (:requirements :strips :probabilistic-effects))
