(define (domain d)
  (:process p :parameters ())
  (:event e :parameters ())
)
