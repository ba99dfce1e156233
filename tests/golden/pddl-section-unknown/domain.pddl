(define (domain d)
  (:predicate (p ?x))
  (:action a :parameters (?x) :precondition (p ?x) :effect (not (p ?x)))
)
