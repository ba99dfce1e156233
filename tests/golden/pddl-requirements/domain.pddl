(define (domain d)
  (:requirements :strips :typing :negative-precondition :object-fluents :preferences :fluents)
  (:predicates (p))
)
