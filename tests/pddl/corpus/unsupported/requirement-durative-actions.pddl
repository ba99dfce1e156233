; The requirement :durative-actions.
(define (domain d)
  (:requirements :strips :durative-actions))
