(define (domain d)
  (:predicates (p)
    (q)
