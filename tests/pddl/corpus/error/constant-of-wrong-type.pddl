; A constant is not of the type that is declared.
(define (domain d)
  (:predicates (r ?x - u))
  (:types t u)
  (:constants k - t)
  (:action a :parameters () :precondition (r k)))
