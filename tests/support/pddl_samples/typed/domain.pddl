; Types in any order, either, constants, equality, negative preconditions.
(define (domain delivery)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types van bike - vehicle vehicle parcel - thing thing site)
  (:constants office - site)
  (:predicates
    (at ?x - thing ?s - site)
    (in ?p - parcel ?v - (either van bike))
    (road ?from ?to - site))
  (:action drive
    :parameters (?v - vehicle ?from ?to - site)
    :precondition (and (at ?v ?from) (road ?from ?to) (not (= ?from ?to)))
    :effect (and (at ?v ?to) (not (at ?v ?from))))
  (:action load
    :parameters (?p - parcel ?v - (either van bike) ?s - site)
    :precondition (and (at ?p ?s) (at ?v ?s) (not (in ?p ?v)))
    :effect (and (in ?p ?v) (not (at ?p ?s))))
  (:action hand-over
    :parameters (?p - parcel ?v - van)
    :precondition (and (in ?p ?v) (at ?v office))
    :effect (and (at ?p office) (not (in ?p ?v)))))
