; A section is a list.
(define (domain d)
  strips)
