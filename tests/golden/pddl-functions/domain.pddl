(define (domain d)
  (:functions (total-cost ?x) - number (f ?x) - number (f) g - number)
)
