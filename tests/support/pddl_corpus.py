"""Odd PDDL files with their verdicts, and why some verdicts differ from Fast Downward's.

Each file of `tests/pddl/corpus/VERDICT/` holds a domain and perhaps a problem, after a line
`;;; problem`. Its first line says what is odd. Fast Downward's translator has no verdict
"unsupported": it accepts or refuses. `MORE_LIBERAL` and `STRICTER` say where it disagrees, and why
Planlog has its verdict.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from support.pddl_verdicts import planner_refusal, translator_refusal

CASES = sorted((Path(__file__).parents[1] / "pddl" / "corpus").glob("*/*.pddl"))
PLAIN_PROBLEM = b"(define (problem one) (:domain d) (:init) (:goal (and)))"

# What Fast Downward refuses and Planlog accepts.
MORE_LIBERAL = {
    "action-parts-in-any-order": "the meaning is clear",
    "action-without-effect": "the meaning is clear",
    "byte-order-mark": "some editors write one",
    "byte-order-marks": "some programs write one before a text that has one",
    "condition-empty-parts": "() is true anywhere, as it is in a precondition",
    "constant-declared-again": "there is a warning; with another type it is an error",
    "cost-conditional": "PDDL has it; it ends with an assertion",
    "cost-decimal": "costs are exact decimals",
    "derived-without-dependence": "the condition is true, so nothing depends on a negation",
    "effect-empty-part": "the meaning is clear",
    "effect-nested": "it ends with an assertion in nested conditional effects",
    "goal-empty": "() is true anywhere, as it is in a precondition",
    "length": "a hint to planners of 1998 that means nothing now",
    "parameter-either": "PDDL has it",
    "quantifier-without-variables": "the meaning is clear",
    "requirements-fluents": "many domains with action costs name it; there is a warning",
    "sections-in-any-order": "the meaning is clear",
    "type-only-above": "it ends with a KeyError; the meaning is clear",
}
# What Fast Downward accepts and Planlog refuses.
STRICTER = {
    "action-declared-twice": "a plan could not tell them apart",
    "action-name-begins-with-colon": "a keyword, probably in the wrong place",
    "argument-of-wrong-type": "the atom is never true: a mistake",
    "control-character": "it cannot be seen",
    "cost-is-the-total-cost": "costs do not depend on the state; it ignores them without a metric",
    "derived-from-its-negation": "it checks only what grounding leaves",
    "derived-named-as-section": "a parenthesis is missing, or the name",
    "derived-negated-in-init": "the initial state does not decide derived atoms",
    "derived-through-forall": "it checks only what grounding leaves",
    "derived-unknown": "a mistake",
    "derived-with-more-parameters": "a mistake",
    "effect-equality": "nothing can change an equality",
    "either-of-nothing": "nothing is of no type",
    "function-declared-twice": "it keeps one of the declarations",
    "function-total-cost-with-parameter": "it is not the total cost then",
    "goal-of-wrong-type": "the atom is never true: a mistake",
    "init-of-wrong-type": "it contradicts the declaration",
    "name-begins-with-colon": "a keyword, probably in the wrong place",
    "name-begins-with-minus": "a space is missing after '-'",
    "name-with-bar": "internal names contain '|'",
    "negated-init-of-wrong-type": "it contradicts the declaration",
    "nested-251-deep": "a limit; it ends with a RecursionError at some greater depth",
    "parameter-twice": "one of them could not be used",
    "predicate-and": "the predicate could not be used",
    "predicate-declared-twice": "it keeps one of the declarations",
    "predicate-equals-of-three": "it is not the equality then",
    "problem-name-begins-with-colon": "a keyword, probably in the wrong place",
    "quantifier-of-a-constant": "a question mark is missing",
    "total-cost-at-start": "it is ignored there, although the metric includes it",
    "type-begins-with-colon": "a keyword, probably in the wrong place",
    "type-below-itself": "a mistake",
    "type-cycle": "a mistake",
    "type-object-below": "every type is below 'object'",
    "type-unknown": "a mistake; it finds no objects of the type",
    "type-unknown-of-nothing": "a mistake",
    "type-with-65-super-types": "a limit",
    "value-of-unknown-function": "a mistake",
    "variable-without-name": "a name is missing",
    "variables-33-nested": "a limit of the evaluator",
    "variables-33-parameters": "a limit of the evaluator",
    "variables-33-predicate": "a limit of the evaluator",
}


def texts(case: Path) -> tuple[bytes, bytes]:
    domain, *problem = re.split(rb";;; problem[\r\n]+", case.read_bytes())
    return domain, problem[0] if problem else PLAIN_PROBLEM


@cache
def known_refusals() -> tuple[set[str], set[str]]:
    """Return why the translator refuses files of `MORE_LIBERAL`, and the planner of `STRICTER`."""
    liberal = {translator_refusal(*texts(case)) for case in CASES if case.stem in MORE_LIBERAL}
    strict = {planner_refusal(*texts(case)) for case in CASES if case.stem in STRICTER}
    return liberal, strict
