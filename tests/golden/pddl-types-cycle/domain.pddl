(define (domain d)
  (:types a - b b - c c - a d - a)
)
