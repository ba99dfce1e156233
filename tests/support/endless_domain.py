"""A task whose policy never ends."""

from __future__ import annotations

# Two rooms and no goal that can be reached: walks about for ever.
ENDLESS_DOMAIN = """
(define (domain rooms) (:predicates (at ?x) (treasure ?x))
  (:action go :parameters (?x ?y) :precondition (at ?x) :effect (and (not (at ?x)) (at ?y))))
"""


ENDLESS_PROBLEM = """
(define (problem p) (:domain rooms) (:objects a b c) (:init (at a)) (:goal (treasure a)))
"""
