(define (domain d)
  (:types thing object - thing)
)
