; The requirement :timed-initial-literals.
(define (domain d)
  (:requirements :strips :timed-initial-literals))
