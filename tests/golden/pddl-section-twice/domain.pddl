(define (domain d)
  (:predicates (p))
  (:predicates (q))
)
