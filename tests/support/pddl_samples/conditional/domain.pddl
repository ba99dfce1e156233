; Conditional and universal effects, one inside the other.
(define (domain lights)
  (:requirements :strips :typing :negative-preconditions :conditional-effects
    :universal-preconditions)
  (:types lamp switch)
  (:predicates (wired ?s - switch ?l - lamp) (on ?l - lamp) (stuck ?s - switch) (dark))
  (:action flip
    :parameters (?s - switch)
    :precondition (not (stuck ?s))
    :effect (and
      (forall (?l - lamp)
        (and
          (when (and (wired ?s ?l) (on ?l)) (not (on ?l)))
          (when (and (wired ?s ?l) (not (on ?l))) (and (on ?l) (not (dark))))))
      (when (dark) (stuck ?s))))
  (:action loosen
    :parameters ()
    :precondition (forall (?l - lamp) (on ?l))
    :effect (forall (?s - switch) (not (stuck ?s)))))
