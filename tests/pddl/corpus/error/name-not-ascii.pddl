; Names consist of ASCII characters.
(define (domain d)
  (:predicates (grün)))
