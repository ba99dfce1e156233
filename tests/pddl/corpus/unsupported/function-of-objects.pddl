; A function whose values are objects.
(define (domain d)
  (:types t)
  (:functions (f) - t))
