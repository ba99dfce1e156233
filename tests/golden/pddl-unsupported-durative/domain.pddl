(define (domain d)
  (:requirements :strips :durative-actions)
  (:predicates (p))
  (:durative-action a
    :parameters ()
    :duration (= ?duration 5)
    :condition (at start (p))
    :effect (at end (not (p))))
)
