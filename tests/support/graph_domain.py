"""A small domain: a walk along the edges of a graph."""

from __future__ import annotations

DOMAIN = """(define (domain graph)
  (:predicates (edge ?x ?y) (at ?x) (seen ?x))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
   :effect (and (not (at ?x)) (at ?y) (seen ?y))))"""
PROBLEM = """(define (problem p) (:domain graph) (:objects a b c)
  (:init (at a) (edge a b) (edge b c)) (:goal (and (at c) (not (at a)))))"""
