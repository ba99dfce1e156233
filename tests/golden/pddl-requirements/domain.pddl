(define (domain d)
  (:requirements :strips :typing :negative-precondition :fluents)
  (:predicates (p))
)
