; A name does not begin with a colon.
(define (domain d)
  (:constants :c))
