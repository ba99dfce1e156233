; The type 'number' is no type of objects.
(define (domain d)
  (:types number))
