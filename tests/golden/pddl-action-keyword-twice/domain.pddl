(define (domain d)
  (:predicates (q))
  (:action a
    :parameters ()
    :effect (q)
    :effect (not (q)))
)
