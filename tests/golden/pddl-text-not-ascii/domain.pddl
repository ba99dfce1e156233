(define (domain d)
  (:predicates (über ?x))
)
