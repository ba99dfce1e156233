(define (domain d) (:predicates (p ?x)) (:action a :parameters () :effect (increase (total-cost) 1e999)))
