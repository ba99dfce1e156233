; An empty list of requirements.
(define (domain d)
  (:requirements))
