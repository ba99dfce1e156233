(define (domain d)
  (:requirements :strips :object-fluents :preferences :multi-agent :no-such-thing)
)
