; The part ':vars' of old domains.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:action a :parameters (?x - t) :vars (?y - t) :precondition (p ?y) :effect (q ?x)))
