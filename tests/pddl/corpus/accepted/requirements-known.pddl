; All requirements that are supported.
(define (domain d)
  (:requirements :strips :typing :equality :negation :negative-preconditions :disjunctive-preconditions
    :existential-preconditions :universal-preconditions :quantified-preconditions :conditional-effects :adl
    :derived-predicates :action-costs))
