; Action costs, constant and from a table.
(define (domain hikes)
  (:requirements :strips :typing :action-costs)
  (:types hut)
  (:predicates (at ?h - hut) (path ?a ?b - hut) (rested))
  (:functions (total-cost) - number (hours ?a ?b - hut) - number)
  (:action walk
    :parameters (?a ?b - hut)
    :precondition (and (at ?a) (path ?a ?b) (rested))
    :effect (and (at ?b) (not (at ?a)) (not (rested)) (increase (total-cost) (hours ?a ?b))))
  (:action rest
    :parameters ()
    :precondition ()
    :effect (and (rested) (increase (total-cost) 2))))
