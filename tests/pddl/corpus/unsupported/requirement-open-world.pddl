; The requirement :open-world.
(define (domain d)
  (:requirements :strips :open-world))
