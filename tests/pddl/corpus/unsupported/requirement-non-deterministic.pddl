; The requirement :non-deterministic.
(define (domain d)
  (:requirements :strips :non-deterministic))
