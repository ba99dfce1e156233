; A function is declared again with other parameters.
(define (domain d)
  (:functions (f ?x) (f)))
