(define (domain d)
  (:predicates (p) (q))
  (:derived (p) (not (p)))
)
