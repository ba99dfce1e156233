; A parenthesis is missing before a section.
(define (domain d)
  (:types t (:constants k)))
