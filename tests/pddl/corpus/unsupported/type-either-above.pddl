; A super-type is one type.
(define (domain d)
  (:types t u s - (either t u)))
