; A type is its own super-type.
(define (domain d)
  (:types a - a))
