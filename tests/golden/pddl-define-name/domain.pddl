(define (domain two words)
  (:predicates (p)))
