(define (domain d)
  (:types truck ?x a@b - (foo) (b))
)
