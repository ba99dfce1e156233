"""Lexer: rule text to tokens.

Spellings of other languages (`<-`, `\\+`, `;`, `?x`, ...) are reported with the spelling of this
language, and then read as if they were spelled so: one slip gives one message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from planlog.datalog.diagnostics import Diagnostics, Place
from planlog.datalog.syntax import AGGREGATES, quoted


class Kind(Enum):
    """Kind of a token; the value is its name in messages."""

    NAME = "name"
    VARIABLE = "variable"
    WILDCARD = "'_'"
    NOT = "'not'"
    IF = "':-'"
    COMMA = "','"
    DOT = "'.'"
    OPEN = "'('"
    CLOSE = "')'"
    AT = "'@'"
    EQUAL = "'='"
    UNEQUAL = "'!='"
    LESS = "'<'"
    LESS_OR_EQUAL = "'<='"
    GREATER = "'>'"
    GREATER_OR_EQUAL = "'>='"
    NUMBER = "integer"
    PLUS = "'+'"
    MINUS = "'-'"
    TIMES = "'*'"
    OPEN_SET = "'{'"
    CLOSE_SET = "'}'"
    COLON = "':'"
    BAR = "'|'"
    END = "the end of the file"


@dataclass(frozen=True)
class Token:
    """A word or punctuation mark with its position."""

    kind: Kind
    text: str  # names in lower case, since PDDL names are case-insensitive
    place: Place
    start: int  # offset in the text

    def __str__(self) -> str:
        if self.kind in (Kind.NAME, Kind.VARIABLE, Kind.NUMBER):
            return f"{self.kind.value} {quoted(self.text)}"
        return str(self.kind.value)


_PUNCTUATION = {
    ":-": Kind.IF,
    "!=": Kind.UNEQUAL,
    "=": Kind.EQUAL,
    "<": Kind.LESS,
    "<=": Kind.LESS_OR_EQUAL,
    ">": Kind.GREATER,
    ">=": Kind.GREATER_OR_EQUAL,
    "+": Kind.PLUS,
    "-": Kind.MINUS,
    "*": Kind.TIMES,
    ",": Kind.COMMA,
    ".": Kind.DOT,
    "(": Kind.OPEN,
    ")": Kind.CLOSE,
    "@": Kind.AT,
}

_ARROW = "a rule is written 'head :- body.'"
_NEGATION = "negation is written 'not'"
_CONJUNCTION = "the literals of a body are separated by ','"
_ALTERNATIVE = "write one rule for each alternative"
_BRACKET = "arguments stand in '(' and ')'"
_ARITHMETIC = "integers have '+', '-' and '*'; a name that contains '{}' stands in quotes"

# Spellings of other languages: the token that is meant, and the hint of the message.
_FOREIGN = {
    "<-": (Kind.IF, _ARROW),
    "←": (Kind.IF, _ARROW),
    ":=": (Kind.IF, _ARROW),
    ":": (Kind.IF, "write ':-' after the head, and ',' between the literals of a body"),
    "\\+": (Kind.NOT, _NEGATION),
    "!": (Kind.NOT, _NEGATION),
    "~": (Kind.NOT, _NEGATION),
    "¬": (Kind.NOT, _NEGATION),
    "&&": (Kind.COMMA, _CONJUNCTION),
    "&": (Kind.COMMA, _CONJUNCTION),
    "\u2227": (Kind.COMMA, _CONJUNCTION),
    ";": (Kind.COMMA, _ALTERNATIVE),
    "||": (Kind.COMMA, _ALTERNATIVE),
    "|": (Kind.COMMA, _ALTERNATIVE),
    "\u2228": (Kind.COMMA, _ALTERNATIVE),
    "==": (Kind.EQUAL, "equality is written '='"),
    "\\==": (Kind.UNEQUAL, "inequality is written '!='"),
    "\\=": (Kind.UNEQUAL, "inequality is written '!='"),
    "/=": (Kind.UNEQUAL, "inequality is written '!='"),
    "<>": (Kind.UNEQUAL, "inequality is written '!='"),
    "≠": (Kind.UNEQUAL, "inequality is written '!='"),
    "=<": (Kind.LESS_OR_EQUAL, "write '<='"),
    "=>": (Kind.GREATER_OR_EQUAL, "write '>='"),
    "≤": (Kind.LESS_OR_EQUAL, "write '<='"),
    "≥": (Kind.GREATER_OR_EQUAL, "write '>='"),
    "/": (Kind.TIMES, _ARITHMETIC.format("/")),
    "\\": (Kind.TIMES, _ARITHMETIC.format("\\")),
    "..": (Kind.PLUS, "a range is written as two comparisons: '1 <= N, N <= 5'"),
    "[": (Kind.OPEN, _BRACKET),
    "{": (Kind.OPEN, _BRACKET),
    "]": (Kind.CLOSE, _BRACKET),
    "}": (Kind.CLOSE, _BRACKET),
}


def _any_of(texts: dict[str, Kind] | dict[str, tuple[Kind, str]]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


# Alternatives are tried in this order: `==` must not be read as two tokens, and a line that
# starts with `;` is a comment in the manner of PDDL. Line feeds are matched alone.
_TOKEN = re.compile(
    rf"""
      (?P<aggregate>\#(?:count|sum|min|max)\b)
    | (?P<directive>\#(?:minimi[sz]e|maximi[sz]e|show|const|program|include|external)\b[^\n]*)
    | (?P<comment>^[^\S\n]*;[^\n]*|(?://|\#)[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<space>\n|[^\S\n]+|%[^\n]*)
    | (?P<decimal>[0-9]+\.[0-9]+)
    | (?P<word>\w[\w-]*)
    | (?P<question>\?[\w-]*)
    | (?P<quoted>'(?:[^'\n]|'')*'|"[^"\n]*"|["'][\w-]*)
    | (?P<foreign>==|:=|<-|<>|=<|=>|\.\.(?=\w))
    | (?P<punctuation>{_any_of(_PUNCTUATION)})
    | (?P<foreign_too>{_any_of(_FOREIGN)})
    | (?P<unknown>(?P<character>.)(?P=character)*)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def tokenize(text: str, diagnostics: Diagnostics) -> list[Token]:
    """Return the tokens of a text, with END as the last one; lines end with a line feed."""
    tokens: list[Token] = []
    line, line_start = 1, 0
    is_in_set = is_in_body = False
    depth = 0  # of parentheses
    first = 0  # the number of the first token of a statement
    for match in _TOKEN.finditer(text):
        found, start = match.group(), match.start()
        place = Place(line, start - line_start + 1, len(found))
        token = Token(Kind.END, found, place, start)
        if found == "|" and _is_family(tokens[first:]):
            tokens.append(replace(token, kind=Kind.BAR))
        elif kind := _in_sets(found, tokens, is_in_set, is_in_body or depth > 0):
            tokens.append(replace(token, kind=kind))
            is_in_set = kind is Kind.OPEN_SET or (is_in_set and kind is Kind.COLON)
        elif read := _token(match.lastgroup or "", token, diagnostics):
            tokens.append(read)
            is_in_set = is_in_set and read.kind is not Kind.DOT
            is_in_body = (is_in_body or read.kind is Kind.IF) and read.kind is not Kind.DOT
            depth = max(0, depth + (read.kind is Kind.OPEN) - (read.kind is Kind.CLOSE))
            if read.kind is Kind.DOT:
                depth, first = 0, len(tokens)
        if "\n" in found:
            line += found.count("\n")
            line_start = start + found.rindex("\n") + 1
    # END stands after the last character, since a message shows its line.
    end = len(text.rstrip())
    line = text.count("\n", 0, end) + 1
    column = end - text.rfind("\n", 0, end)
    tokens.append(Token(Kind.END, "", Place(line, column, 1), end))
    return tokens


def _is_family(tokens: list[Token]) -> bool:
    """Return whether a statement with these first tokens is a family of actions."""
    kinds = [token.kind for token in tokens[:2]]
    return kinds == [Kind.NAME, Kind.NAME] and tokens[0].text == "family"


# The tokens before a `{` that cannot be a bracket around arguments.
_BEFORE_SETS = (Kind.NUMBER, Kind.COMMA, Kind.IF, Kind.COLON, Kind.NOT, Kind.EQUAL)


def _in_sets(text: str, tokens: list[Token], is_in_set: bool, is_in_body: bool) -> Kind | None:
    """Return the kind of a brace or colon of an aggregate, such as `count { X : p(X) }`.

    In bodies also those of sets and conditions as other languages write them, which the parser
    reports. Elsewhere these characters stand for brackets and arrows of other languages.
    """
    match text:
        case "{" if tokens:
            before = tokens[-1]
            is_named = before.kind is Kind.NAME and before.text in AGGREGATES
            if is_named or (is_in_body and before.kind in _BEFORE_SETS):
                return Kind.OPEN_SET
        case ":" if is_in_set or is_in_body:
            return Kind.COLON
        case "}" if is_in_set:
            return Kind.CLOSE_SET
    return None


def aggregate_hint(kind: str) -> str:
    """Return the hint of messages about aggregates that are not written as here."""
    elements = "X : p(X)" if kind == "count" else "V, X : p(X, V)"
    return f"an aggregate is written 'N = {kind} {{ {elements} }}'"


def _token(group: str, found: Token, diagnostics: Diagnostics) -> Token | None:
    """Return the token of a match; None for spaces, comments and unknown characters."""
    text = found.text
    match group:
        case "space":
            return None
        case "word":
            return _word(found, diagnostics)
        case "punctuation":
            return replace(found, kind=_PUNCTUATION[text])
        case "foreign" | "foreign_too":
            kind, remedy = _FOREIGN[text]
            diagnostics.error(found.place, f"'{text}' is not part of the rule language", remedy)
            return replace(found, kind=kind)
        case "aggregate":
            message = f"'{text}' is not part of the rule language"
            diagnostics.error(found.place, message, aggregate_hint(text[1:]))
            return replace(found, kind=Kind.NAME, text=text[1:])
        case "decimal":
            hint = "rules compute with integers"
            diagnostics.error(found.place, f"'{text}' is not an integer", hint)
            return replace(found, kind=Kind.NUMBER, text=text.split(".")[0][:18])
        case "directive":
            directive = "#" + re.split(r"\W", text)[1]
            place = found.place._replace(length=len(directive))
            message = f"'{directive}' is not part of the rule language"
            diagnostics.error(place, message, "delete the line; a comment starts with '%'")
            return None
        case "comment":
            indent = len(text) - len(text.lstrip())
            place = Place(found.place.line, found.place.column + indent, 1)
            diagnostics.error(place, "this is not a comment", "a comment starts with '%'")
            return None
        case "question":
            name = text[1:2].upper() + text[2:]
            hint = f"write '{name}'" if name else ""
            diagnostics.error(found.place, "a variable starts with a capital, not with '?'", hint)
            return replace(found, kind=Kind.VARIABLE, text=name or "X")
        case "quoted":
            return _quoted(found, diagnostics)
        case _:
            shown = f"'{text[0]}'" if text[0].isprintable() else f"U+{ord(text[0]):04X}"
            hint = "delete it"
            if not _NO_NAME.match(text):
                hint += f"; a name that contains it stands in quotes: {quoted(f'a{text[0]}b')}"
            diagnostics.error(found.place, f"unknown character {shown}", hint)
            return None


# The characters that no name of PDDL contains.
_NO_NAME = re.compile(r"[^!-~]|[();?|]")


def _quoted(found: Token, diagnostics: Diagnostics) -> Token:
    text = found.text
    is_closed = len(text) > 1 and text[-1] == text[0]
    name = (text[1:-1] if is_closed else text[1:]).lower()
    if text[0] == "'":
        name = name.replace("''", "'")
    if not is_closed:
        hint = "names with special characters stand in single quotes, as in 'a.b'"
        diagnostics.error(found.place, "this quote is never closed", hint)
    elif not name:
        diagnostics.error(found.place, "this name is empty", "write a name between the quotes")
    elif match := _NO_NAME.search(name):
        hint = "names consist of ASCII characters except spaces and ( ) ; ? |, as in PDDL"
        diagnostics.error(found.place, f"{match.group()!r} cannot stand in a name", hint)
    elif text[0] == '"':
        message = "names are quoted with ', not with \""
        diagnostics.error(found.place, message, f"write {quoted(name)}")
    return replace(found, kind=Kind.NAME, text=name)


def _word(found: Token, diagnostics: Diagnostics) -> Token:
    text = found.text
    if not text.isascii():
        hint = "names consist of ASCII characters, as in PDDL"
        diagnostics.error(found.place, f"'{text}' is not a name", hint)
    if text == "_":
        return replace(found, kind=Kind.WILDCARD)
    if text.isdecimal() and text.isascii():
        if len(text) > 18:
            diagnostics.error(found.place, "this integer is too large", "write at most 18 digits")
            return replace(found, kind=Kind.NUMBER, text="0")
        return replace(found, kind=Kind.NUMBER)
    if text.lower() == "not":
        return replace(found, kind=Kind.NOT)
    if text[0] == "_" or text[0].isupper():
        return replace(found, kind=Kind.VARIABLE)
    return replace(found, kind=Kind.NAME, text=text.lower())
