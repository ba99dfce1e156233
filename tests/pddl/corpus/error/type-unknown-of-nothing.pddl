; An unknown type of an empty group.
(define (domain d)
  (:types t)
  (:constants - s))
