(define (domain d)
  (:predicates (p ?x))
  (:action a :parameters () :effect (not ; ÿþ
    )))
