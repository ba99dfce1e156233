; The name of a type begins with a colon, as a keyword does.
(define (domain d)
  (:requirements :typing)
  (:predicates (p ?x - :metric)))
