; The type 'object' may be declared.
(define (domain d)
  (:types object t - object)
  (:predicates (p ?x - t)))
