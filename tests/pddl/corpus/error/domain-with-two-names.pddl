; A domain has one name.
(define (domain d e) (:predicates (p)))
