(define (domain d)
  (:predicates (p) (q))
  (:action a
    :parameters ()
    :effect (and (p) (not (q)))
  (:action b
    :parameters ()))
