; The requirement :preferences.
(define (domain d)
  (:requirements :strips :preferences))
