; A name in Latin-1.
(define (domain d)
  (:predicates (grün)))
