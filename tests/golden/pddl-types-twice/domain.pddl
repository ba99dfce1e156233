(define (domain d)
  (:types truck plane - vehicle vehicle truck)
)
