; An effect changes a derived predicate.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:derived (z) (w))
  (:action a
    :parameters (?x - t)
    :precondition (z)
    :effect (z)))
