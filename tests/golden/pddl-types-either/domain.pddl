(define (domain d)
  (:types land water boat - (either land water))
)
