; The function 'total-cost' is known.
(define (domain d)
  (:predicates (z))
  (:action a :parameters () :effect (and (z) (increase (total-cost) 2))))
