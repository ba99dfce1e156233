; A cost that is the total cost so far.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a
    :parameters (?x - t)
    :precondition (z)
    :effect (and (w) (increase (total-cost) (total-cost)))))
