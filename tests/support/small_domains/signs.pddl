; Names that rule files write in quotes.
(define (domain signs)
  (:requirements :adl)
  (:types s.1 not - object)
  (:constants it's - s.1)
  (:predicates (at+1 ?x - s.1 ?y - object) (up:down ?x) (p@ug) (%) ("quoted" ?x))
  (:action move.up
    :parameters (?x - s.1 ?y - object)
    :precondition (or (at+1 ?x ?y) (%))
    :effect (up:down ?x))
  (:action _turn
    :parameters (?x - (either s.1 not))
    :effect (and (p@ug) ("quoted" ?x))))
