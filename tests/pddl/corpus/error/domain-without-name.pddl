; A domain has a name.
(define (domain) (:predicates (p)))
