; Old domains repeat a variable in a declaration.
(define (domain d)
  (:predicates (p ?x ?x)))
