; The function 'total-cost' has no parameters.
(define (domain d)
  (:functions (total-cost ?x)))
