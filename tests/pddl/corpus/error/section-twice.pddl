; A section may stand once.
(define (domain d)
  (:predicates (p))
  (:predicates (q)))
