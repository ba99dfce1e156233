; A type is a word.
(define (domain d)
  (:types t)
  (:constants k - (t)))
