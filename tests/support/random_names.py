"""Random names of PDDL, most of which rule files write in quotes."""

from __future__ import annotations

from hypothesis import strategies as st

_CHARACTERS = "".join(chr(i) for i in range(33, 127) if chr(i) not in "();?|")
_BUILT_IN = {"=", "and", "or", "imply", "exists", "forall", "when", "increase", "either", "object"}


def _is_name(text: str) -> bool:
    return text[0] not in "-:" and text not in _BUILT_IN


def names() -> st.SearchStrategy[str]:
    """Names in lower case."""
    special = st.sampled_from(["_", "_x", "7", "9x", "it's", "'", "a.b", "p@ug", "a%b", "x@type"])
    drawn = st.text(_CHARACTERS, min_size=1, max_size=6).map(str.lower).filter(_is_name)
    return st.one_of(special, drawn)
