(define (domain d)
  (:action :parameters ())
)
