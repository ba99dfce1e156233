; Planlog needs '|' for its own names.
(define (domain d)
  (:predicates (a|b)))
