; The requirement :continuous-effects.
(define (domain d)
  (:requirements :strips :continuous-effects))
