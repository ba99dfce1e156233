; The requirement :object-fluents.
(define (domain d)
  (:requirements :strips :object-fluents))
