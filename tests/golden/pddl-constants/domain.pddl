(define (domain d)
  (:types t)
  (:constants a b a - t c - t)
)
