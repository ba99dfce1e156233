"""Reads the parentheses of PDDL, for references that share no code with Planlog."""

from __future__ import annotations

import re

Nested = list["str | Nested"]


def nested(text: str) -> Nested:
    """The text, of one list, as nested lists of lower-case words; comments are left out."""
    stack: list[Nested] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text).lower()):
        if token == "(":
            stack.append([])
        elif token == ")":
            closed = stack.pop()
            stack[-1].append(closed)
        else:
            stack[-1].append(token)
    ((only,),) = stack
    assert isinstance(only, list)
    return only
