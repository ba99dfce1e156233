(define (domain d)
  (:types truck - vehicel vehicle plane - craft)
)
