; A space is missing after '-'.
(define (domain d)
  (:types t)
  (:constants c -t))
