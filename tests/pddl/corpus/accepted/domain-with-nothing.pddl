; All sections of a domain are optional.
(define (domain d)
  )
