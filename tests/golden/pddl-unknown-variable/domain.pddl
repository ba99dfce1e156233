(define (domain d)
  (:predicates (on ?x ?y))
  (:action a
    :parameters (?block ?other)
    :precondition (on ?blok ?other)
    :effect (and (not (on ?blok ?other)) (on ?z block)))
)
