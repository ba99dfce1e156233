; Nested conditions: or, imply, exists, forall, under negation as well.
(define (domain gallery)
  (:requirements :strips :negative-preconditions :disjunctive-preconditions
    :existential-preconditions :universal-preconditions)
  (:predicates (lit ?r) (door ?a ?b) (guard ?g) (watches ?g ?r) (open ?r) (alarm))
  (:action open-room
    :parameters (?r)
    :precondition (and
      (or (lit ?r) (exists (?g) (and (guard ?g) (watches ?g ?r))))
      (forall (?b) (imply (door ?r ?b) (not (open ?b)))))
    :effect (open ?r))
  (:action close-room
    :parameters (?r)
    :precondition (and (open ?r) (not (exists (?g) (and (watches ?g ?r) (not (guard ?g))))))
    :effect (and (not (open ?r)) (not (lit ?r))))
  (:action reset
    :parameters ()
    :precondition (not (forall (?r) (or (open ?r) (guard ?r))))
    :effect (not (alarm))))
