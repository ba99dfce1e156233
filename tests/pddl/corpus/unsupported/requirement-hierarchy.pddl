; The requirement :hierarchy.
(define (domain d)
  (:requirements :strips :hierarchy))
