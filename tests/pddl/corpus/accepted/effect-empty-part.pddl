; A conditional effect changes nothing.
(define (domain d)
  (:requirements :conditional-effects)
  (:predicates (p))
  (:action a :parameters () :effect (and (p) (when (p) ()))))
