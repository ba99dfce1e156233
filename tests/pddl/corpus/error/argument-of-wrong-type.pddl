; An argument cannot be of the type that is declared.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a :parameters (?x - u) :precondition (p ?x) :effect (z)))
