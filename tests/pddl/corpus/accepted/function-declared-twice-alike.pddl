; A function may be declared again in the same way.
(define (domain d)
  (:functions (total-cost) - number (total-cost) - number (f ?x) (f ?y) - number))
