(define (domain d)
  ((p ?x))
  foo
)
