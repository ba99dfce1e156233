; An axiom of PDDL 1.
(define (domain d)
  (:types t u)
  (:constants k - t)
  (:predicates (p ?x - t) (q ?x - t) (z) (w))
  (:functions (total-cost) - number (f ?x - t) - number)
  (:axiom :vars (?x) :context (p ?x) :implies (q ?x)))
