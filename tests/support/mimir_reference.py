"""PDDL problems and states as mimir sees them."""

from __future__ import annotations

import re

import pymimir
from hypothesis import assume

from planlog.pddl.task import Atom
from support.pddl_by_the_book import Atoms


def mimir_problem(domain: str, problem: str) -> pymimir.Problem:
    """It reads comments in files only."""
    domain, problem = (re.sub(";.*", "", text) for text in (domain, problem))
    return pymimir.Problem(pymimir.Domain(domain), problem)


def assume_readable(domain: str, problem: str) -> None:
    """Skip an example that mimir cannot read: some action turns out to be impossible or empty."""
    try:
        mimir_problem(domain, problem)
    except RuntimeError:
        assume(False)


def mimir_atoms(state: pymimir.State, names: set[str]) -> Atoms:
    atoms = (Atom.parse(str(atom)) for atom in state.get_atoms())
    return frozenset((name, *arguments) for name, arguments in atoms if name in names)
