; A declaration has variables.
(define (domain d)
  (:constants k)
  (:predicates (p k)))
