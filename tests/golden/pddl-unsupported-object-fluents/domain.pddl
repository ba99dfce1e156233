(define (domain d)
  (:types t)
  (:functions (place-of ?x - t) - t)
)
