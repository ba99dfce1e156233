"""The verdicts of the planner, of the validator and of Fast Downward's translator on PDDL texts."""

from __future__ import annotations

import contextlib
import io
import re
import traceback
from typing import Any

from fast_downward.translate import normalize, options
from fast_downward.translate.main import pddl_to_sas
from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

from planlog.errors import PddlError, Severity, UnsupportedError
from planlog.pddl.task import Domain
from planlog.validation import Validator

ACCEPTED, ERROR, UNSUPPORTED = "accepted", "error", "unsupported"


def planner_verdict(domain: str | bytes, problem: str | bytes) -> str:
    try:
        Domain.parse(domain).parse_task(problem)
    except PddlError as error:
        return UNSUPPORTED if isinstance(error, UnsupportedError) else ERROR
    return ACCEPTED


def validator_verdict(domain: str | bytes, problem: str | bytes) -> str:
    try:
        Validator(as_text(domain), as_text(problem))
    except PddlError as error:
        return UNSUPPORTED if isinstance(error, UnsupportedError) else ERROR
    return ACCEPTED


def planner_refusal(domain: str | bytes, problem: str | bytes) -> str:
    """Return the kind of the first mistake that the planner finds, or nothing."""
    try:
        Domain.parse(domain).parse_task(problem)
    except PddlError as error:
        return refusal(error)
    return ""


def refusal(error: PddlError) -> str:
    """Return the first words of an error, without what it quotes: `expected a name,`."""
    message = next(d.message for d in error.diagnostics if d.severity is not Severity.WARNING)
    return " ".join(re.sub(r"'\S*'", "''", message).split()[:3])


def translator_verdict(domain: str | bytes, problem: str | bytes) -> str:
    """Return whether Fast Downward's translator reads and translates the texts.

    It knows no unsupported features: to it, they are errors.
    """
    return ERROR if translator_refusal(domain, problem) else ACCEPTED


def translator_refusal(domain: str | bytes, problem: str | bytes) -> str:
    """Return the kind of the mistake that the translator finds, or nothing."""
    options.set_options(["domain", "problem"])
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            task = parsing_functions.parse_task(_nested_list(domain), _nested_list(problem))
            normalize.normalize(task)
            pddl_to_sas(task)
        # It ends with many kinds of exceptions, and some of them are mistakes of its own.
        except (Exception, SystemExit) as error:
            where = traceback.extract_tb(error.__traceback__)[-1].name
            trail = r"(?m)^(Parsing|\t->).*\n"  # to the place in the file
            words = re.sub(r"'\S*'", "''", re.sub(trail, "", str(error))).split()
            return " ".join([type(error).__name__, where, *words[:4]])
    return ""


def _nested_list(text: str | bytes) -> list[Any]:
    """Parse a text as the translator parses a file: in ISO-8859-1, with any line ends."""
    content = text.encode() if isinstance(text, str) else text
    nested: list[Any] = lisp_parser.parse_nested_list(
        io.TextIOWrapper(io.BytesIO(content), encoding="ISO-8859-1")
    )
    return nested


def as_text(text: str | bytes) -> str:
    """Return a text as the validator reads it."""
    return text if isinstance(text, str) else text.decode(errors="replace")
