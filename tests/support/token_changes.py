"""Random changes of tokens, to damage texts."""

from __future__ import annotations


def change_tokens(tokens: list[str], change: str, i: int, j: int) -> None:
    """Delete or double token `i`, or swap it with token `j`."""
    if change == "delete":
        del tokens[i]
    elif change == "double":
        tokens.insert(i, tokens[i])
    elif change == "swap":
        tokens[i], tokens[j] = tokens[j], tokens[i]
