; An 'either' names types.
(define (domain d)
  (:predicates (p ?x - (either))))
