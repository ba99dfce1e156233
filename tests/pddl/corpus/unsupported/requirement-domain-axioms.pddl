; The requirement :domain-axioms.
(define (domain d)
  (:requirements :strips :domain-axioms))
