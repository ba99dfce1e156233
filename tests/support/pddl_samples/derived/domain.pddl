; Derived predicates, recursive and in layers.
(define (domain pipes)
  (:requirements :strips :typing :negative-preconditions :existential-preconditions
    :disjunctive-preconditions :derived-predicates)
  (:types node)
  (:predicates
    (pipe ?a ?b - node) (source ?n - node) (shut ?n - node)
    (flows ?a ?b - node) (wet ?n - node) (dry ?n - node))
  (:derived (flows ?a ?b - node)
    (and (not (shut ?a))
      (or (pipe ?a ?b) (exists (?m - node) (and (pipe ?a ?m) (flows ?m ?b))))))
  (:derived (wet ?n - node)
    (or (source ?n) (exists (?s - node) (and (source ?s) (flows ?s ?n)))))
  (:derived (dry ?n - node) (not (wet ?n)))
  (:action turn-off
    :parameters (?n - node)
    :precondition (wet ?n)
    :effect (shut ?n))
  (:action turn-on
    :parameters (?n - node)
    :precondition (and (dry ?n) (shut ?n))
    :effect (not (shut ?n))))
