; Time in a condition.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a
    :parameters (?x - t)
    :precondition (over all (z))
    :effect (w)))
