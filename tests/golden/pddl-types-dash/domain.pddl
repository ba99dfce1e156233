(define (domain d)
  (:types - vehicle truck -vehicle plane - )
)
