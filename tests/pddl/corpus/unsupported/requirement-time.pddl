; The requirement :time.
(define (domain d)
  (:requirements :strips :time))
