; The requirement :duration-inequalities.
(define (domain d)
  (:requirements :strips :duration-inequalities))
