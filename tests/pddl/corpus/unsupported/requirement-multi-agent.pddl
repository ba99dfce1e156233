; The requirement :multi-agent.
(define (domain d)
  (:requirements :strips :multi-agent))
