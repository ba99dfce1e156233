(define (domain d)
  (:predicates (on ?x ?y) (on ?x) (= ?x ?y) (and) (clear x) p ())
)
