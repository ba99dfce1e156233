; Of fluents, action costs are supported.
(define (domain d)
  (:requirements :fluents :numeric-fluents))
