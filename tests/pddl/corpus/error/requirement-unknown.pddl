; Requirements have known names.
(define (domain d)
  (:requirements :stripes))
