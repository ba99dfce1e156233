; The name of an action begins with a colon, as a keyword does.
(define (domain d)
  (:predicates (p))
  (:action :a :parameters () :effect (p)))
