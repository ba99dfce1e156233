(define (domain d)
  (:predicates (edge ?x ?y) (lost ?x))
  (:derived (lost ?x) (forall (?y) (imply (edge ?x ?y) (lost ?y))))
)
