(define (domain d)
  (:predicates (p)))
  (:action a
    :parameters ()
    :effect (p)))
