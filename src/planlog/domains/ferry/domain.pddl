; Ferry: one boat with room for one car takes cars between locations.
; Predicates, actions and parameter order are those of the IPC 2023 learning track.
(define (domain ferry)
  (:requirements :strips :typing :negative-preconditions)

  (:types car location - object)

  (:predicates
    (at-ferry ?l - location)
    (at ?c - car ?l - location)
    (empty-ferry)
    (on ?c - car))   ; the car is aboard

  (:action sail
    :parameters (?from - location ?to - location)
    :precondition (and (at-ferry ?from) (not (at-ferry ?to)))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))

  (:action board
    :parameters (?car - car ?loc - location)
    :precondition (and (empty-ferry) (at-ferry ?loc) (at ?car ?loc))
    :effect (and (on ?car) (not (empty-ferry)) (not (at ?car ?loc))))

  (:action debark
    :parameters (?car - car ?loc - location)
    :precondition (and (on ?car) (at-ferry ?loc))
    :effect (and (at ?car ?loc) (empty-ferry) (not (on ?car)))))
