; A constant has one type.
(define (domain d)
  (:types t u)
  (:constants k - (either t u)))
