"""Tasks with one plan, whose steps have given costs."""

from __future__ import annotations

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
