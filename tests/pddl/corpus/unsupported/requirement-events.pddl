; The requirement :events.
(define (domain d)
  (:requirements :strips :events))
