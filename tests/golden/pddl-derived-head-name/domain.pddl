(define (domain d)
  (:predicates (p ?x) (q ?x))
  (:derived (q k) (p ?k))
)
