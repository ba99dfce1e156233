"""Tasks whose actions have given costs: with one plan, and on roads with tolls."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from planlog.pddl.task import Domain, Task

DOMAIN = """(define (domain steps) (:predicates (at ?x) (next ?x ?y))
  (:functions (total-cost) (price ?x))
  (:action pay :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y))
    :effect (and (not (at ?x)) (at ?y)
      (increase (total-cost) (price ?x)) (increase (total-cost) CONSTANT))))"""


def texts(prices: list[str], constant: str = "0") -> tuple[str, str]:
    """Return a domain and a problem with one plan: each step has a price, and costs a constant."""
    places = [f"p{i}" for i in range(len(prices) + 1)]
    init = " ".join(f"(next {a} {b})" for a, b in pairwise(places))
    values = " ".join(f"(= (price p{i}) {price})" for i, price in enumerate(prices))
    problem = f"""(define (problem p) (:domain steps) (:objects {" ".join(places)})
      (:init (at p0) {init} {values}) (:goal (at {places[-1]}))
      (:metric minimize (total-cost)))"""
    return DOMAIN.replace("CONSTANT", constant), problem


def task_of(prices: list[str], constant: str = "0") -> Task:
    domain, problem = texts(prices, constant)
    return Domain.parse(domain).parse_task(problem)


def files(folder: Path, prices: list[str], constant: str = "0") -> Path:
    """Write domain and problem; return the problem file."""
    for name, text in zip(("domain.pddl", "p.pddl"), texts(prices, constant), strict=True):
        (folder / name).write_text(text)
    return folder / "p.pddl"


ROADS = """(define (domain roads) (:requirements :action-costs)
  (:predicates (at ?x) (road ?x ?y) (closed ?x ?y)) (:functions (total-cost) (toll ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
    :effect (and (not (at ?x)) (at ?y) (increase (total-cost) (toll ?x ?y)))))"""

Tolls = Mapping[str, object]  # of the road from a to b by the key "ab"; None if it is missing


def roads_text(tolls: Tolls, goal: str, start: str = "a", closed: str = "") -> str:
    """Return a problem: find the cheapest way. Roads can be marked as closed."""
    places = sorted({place for pair in tolls for place in pair} | {goal})
    facts = [f"(road {x} {y})" for x, y in tolls]
    facts += [f"(= (toll {x} {y}) {toll})" for (x, y), toll in tolls.items() if toll is not None]
    facts += [f"(closed {x} {y})" for x, y in closed.split()]
    return f"""(define (problem p) (:domain roads) (:objects {" ".join(places)})
      (:init (at {start}) {" ".join(facts)}) (:goal (at {goal}))
      (:metric minimize (total-cost)))"""


def roads(tolls: Tolls, goal: str, start: str = "a", closed: str = "") -> Task:
    return Domain.parse(ROADS).parse_task(roads_text(tolls, goal, start, closed))
