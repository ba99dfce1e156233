; A durative action.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:durative-action a :parameters () :duration (= ?duration 3) :condition (at start (z)) :effect (at end (w))))
