; A type is missing after '-'.
(define (domain d)
  (:types t -))
