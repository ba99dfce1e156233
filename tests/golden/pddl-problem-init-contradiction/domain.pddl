(define (domain trucks)
  (:requirements :typing :action-costs :derived-predicates)
  (:types truck place)
  (:constants hub base - place)
  (:predicates
    (at ?t - truck ?p - place)
    (full ?t - truck)
    (reachable ?t - truck ?p - place))
  (:functions
    (total-cost) - number
    (distance ?a ?b - place) - number)
  (:derived (reachable ?t ?p)
    (at ?t ?p))
  (:action drive
    :parameters (?t - truck ?a ?b - place)
    :precondition (at ?t ?a)
    :effect (and
      (at ?t ?b)
      (not (at ?t ?a))
      (increase (total-cost) (distance ?a ?b)))))
