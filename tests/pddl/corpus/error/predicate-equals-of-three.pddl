; The predicate '=' has two arguments.
(define (domain d)
  (:predicates (= ?x ?y ?z)))
