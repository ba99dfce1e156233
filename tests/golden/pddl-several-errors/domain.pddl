(define (domain d)
  (:requirements :strips :typin)
  (:types block)
  (:predicates (on ?x ?y - block) (clear ?x - blok))
  (:action stack
    :parameters (?x ?y - block)
    :precondition (and (cleer ?y) (on ?x))
    :effect (on ?x ?z))
  (:action unstack
    :parameters (?x ?y - block)
    :precondition (on ?x ?y)
    :effekt (not (on ?x ?y)))
)
