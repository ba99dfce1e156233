; The type 'object' has no super-type.
(define (domain d)
  (:types object - thing))
