"""Recursive-descent parser: tokens to rules with unresolved names.

After an error the parser resumes after the next `.`, so one run reports the errors of several
rules. The grammar:

    program    = { rule }
    rule       = atom [ ":-" part { "," part } ] "."
    part       = [ "not" ] atom | expression operator expression
    operator   = "=" | "!=" | "<" | "<=" | ">" | ">="
    atom       = NAME [ "@" NAME ] [ "(" [ argument { "," argument } ] ")" ]
    argument   = [ "min" ] expression | "_"
    expression = product { ( "+" | "-" ) product }
    product    = factor { "*" factor }
    factor     = VARIABLE | NAME | NUMBER | "-" factor | "(" expression ")" | aggregate
    aggregate  = kind "{" expression { "," expression } ":" part { "," part } "}"
    kind       = "count" | "sum" | "min" | "max"

A NAME with other characters than letters, digits, `-` and `_`, or with digits only, stands in
single quotes. `min` can stand in heads only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

from planlog.datalog.diagnostics import Diagnostics, Place
from planlog.datalog.lexer import Kind, Token, aggregate_hint, tokenize
from planlog.datalog.syntax import (
    AGGREGATES,
    Comparison,
    Constant,
    Expression,
    Number,
    Operation,
    Term,
    Variable,
    Wildcard,
    quoted,
    written,
)


@dataclass(frozen=True)
class ParsedAggregate(Term):
    """`kind { elements : body }`; the name is its text."""

    kind: str = ""
    elements: tuple[Expression, ...] = ()
    body: tuple[ParsedAtom | Comparison, ...] = ()


@dataclass(frozen=True)
class ParsedAtom:
    """An atom `p@status(terms)` or its negation; the status is optional."""

    name: Token
    status: Token | None
    terms: tuple[Expression, ...]
    negated: bool
    place: Place
    least: int | None = None  # the number of the argument after `min`


class ParsedRule(NamedTuple):
    """A rule or fact, with its source text on one line."""

    head: ParsedAtom
    body: tuple[ParsedAtom | Comparison, ...]
    text: str


class ParsedFile(NamedTuple):
    """The rules of a file that have no syntax errors."""

    rules: tuple[ParsedRule, ...]
    # Names in rules with syntax errors. These rules may define them, so they are not unknown.
    skipped_names: frozenset[str]


def parse(text: str, diagnostics: Diagnostics) -> ParsedFile:
    """Parse a rule file; syntax errors go to the diagnostics."""
    return _Parser(text, diagnostics).file()


class _ResumeError(Exception):
    """An error was reported: resume at this token, or after the next `.` if None."""

    def __init__(self, position: int | None = None) -> None:
        self.position = position


_TERMS = (Kind.VARIABLE, Kind.NAME, Kind.WILDCARD, Kind.NUMBER)
_COMPARISONS = {
    Kind.EQUAL: "=",
    Kind.UNEQUAL: "!=",
    Kind.LESS: "<",
    Kind.LESS_OR_EQUAL: "<=",
    Kind.GREATER: ">",
    Kind.GREATER_OR_EQUAL: ">=",
}
_SUMS = {Kind.PLUS: "+", Kind.MINUS: "-"}
_PRODUCTS = {Kind.TIMES: "*"}
_IN_EXPRESSIONS = (*_COMPARISONS, *_SUMS, *_PRODUCTS)
_MOST_PARTS = 50  # of an expression
_PDDL_ATOM = "expected a literal, found '('", "write 'on(A, B)', not '(on A B)'"
_COMMENT = re.compile(r"('[^'\n]*')|%[^\n]*")  # or a quoted name, which may contain `%`
_LITERAL = "a literal is written 'p(X)', 'not p(X)', 'X = Y' or 'X < Y'"
_SETS = (Kind.COLON, Kind.OPEN_SET, Kind.CLOSE_SET)
_FOR_ALL = (
    "for a condition on all objects, derive the exceptions ('other :- q(X), not p(X).') and write "
    "'not other'"
)


class _Parser:
    def __init__(self, text: str, diagnostics: Diagnostics) -> None:
        self.text = text
        self.diagnostics = diagnostics
        self.tokens = tokenize(text, diagnostics)
        self.position = 0
        self.nesting = 0  # of expressions

    # Tokens

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    @property
    def previous(self) -> Token:
        return self.tokens[max(0, self.position - 1)]

    def after_next(self) -> Kind:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)].kind

    def take(self) -> Token:
        token = self.next
        if token.kind is not Kind.END:
            self.position += 1
        return token

    def accept(self, kind: Kind) -> bool:
        if self.next.kind is not kind:
            return False
        self.take()
        return True

    def fail(self, token: Token, message: str, hint: str = "") -> NoReturn:
        self.diagnostics.error(token.place, message, hint)
        raise _ResumeError

    # Rules

    def file(self) -> ParsedFile:
        rules: list[ParsedRule] = []
        skipped: set[str] = set()
        while self.next.kind is not Kind.END:
            start = self.position
            try:
                rules.append(self.rule())
            except _ResumeError as error:
                self.nesting = 0
                if error.position is None:
                    self.skip_rule()
                else:
                    self.position = error.position
                unread = self.tokens[start : self.position]
                skipped.update(token.text for token in unread if token.kind is Kind.NAME)
        return ParsedFile(tuple(rules), frozenset(skipped))

    def skip_rule(self) -> None:
        while self.next.kind is not Kind.END and self.take().kind is not Kind.DOT:
            pass

    def rule(self) -> ParsedRule:
        start = self.next
        head = self.head()
        body: list[ParsedAtom | Comparison] = []
        if self.accept(Kind.IF):
            body.append(self.part("the body is empty", "a fact is written without ':-'"))
            while not self.body_ends(body):
                hint = "delete the ',' before it, or complete the body"
                body.append(self.part(f"expected a literal after ',', found {self.next}", hint))
        else:
            self.fact_ends(head)
        return ParsedRule(head, tuple(body), self.one_line(start, self.previous))

    def head(self) -> ParsedAtom:
        token = self.next
        match token.kind:
            case Kind.IF:
                self.fail(token, "a rule needs a head before ':-'", "write 'head :- body.'")
            case Kind.DOT:
                self.fail(token, "there is no rule before this '.'", "delete the '.'")
            case Kind.NOT:
                hint = "a head says what is derived; 'not' is for bodies"
                self.fail(token, "a head cannot be negated", hint)
            case Kind.OPEN:
                self.fail(token, *_PDDL_ATOM)
        if token.kind in _TERMS and self.after_next() in _IN_EXPRESSIONS:
            self.fail(token, "a comparison cannot be a head", "write 'head :- body.'")
        if token.kind is not Kind.NAME and self.after_next() not in (Kind.OPEN, Kind.AT):
            self.fail(token, f"expected the head of a rule, found {token}", _head_hint(token))
        return self.atom(token, negated=False)

    def fact_ends(self, head: ParsedAtom) -> None:
        """Read the end of a rule without a body."""
        token = self.next
        if self.accept(Kind.DOT):
            return
        if token.kind is Kind.END or self.at_rule():
            self.missing_dot()
            return
        if token.kind is Kind.COMMA:
            self.fail(token, "a rule has one head only", "write one rule for each head")
        self.unexpected("':-' or '.'", head, "write ':-' between the head and the body")

    def body_ends(self, body: list[ParsedAtom | Comparison]) -> bool:
        """Read the `.` or `,` after a literal. Return whether the body ends."""
        token = self.next
        if self.accept(Kind.DOT):
            return True
        if self.accept(Kind.COMMA):
            return False
        if token.kind is Kind.END or self.at_rule():
            self.missing_dot()
            return True
        if token.kind is Kind.IF:
            self.second_arrow(body[-1])
        hint = "separate literals with ',' and end each rule with '.'"
        self.unexpected("',' or '.'", body[-1], hint)

    def missing_dot(self) -> None:
        line, column, length = self.previous.place
        message = "expected '.' at the end of the rule"
        self.diagnostics.error(Place(line, column + length, 1), message, "add '.'")

    def second_arrow(self, last: ParsedAtom | Comparison) -> NoReturn:
        """Report `p :- q, r :- s.`; most likely the comma before r should be a dot."""
        message = "a second ':-' in one rule"
        position = self.position
        while self.tokens[position].place[:2] > last.place[:2]:
            position -= 1
        starts_line = self.tokens[position - 1].place.line < last.place.line
        if not isinstance(last, ParsedAtom) or last.negated or not starts_line:
            self.fail(self.next, message, "end each rule with '.'")
        hint = f"end the rule before {quoted(last.name.text)} with '.'"
        self.diagnostics.error(self.next.place, message, hint)
        raise _ResumeError(position)

    def unexpected(self, expected: str, last: ParsedAtom | Comparison, hint: str) -> NoReturn:
        token = self.next
        if token.kind is Kind.CLOSE:
            self.fail(token, "this ')' closes nothing", "delete it, or add its '('")
        if token.kind in _SETS:
            self.foreign_set(token)
        if isinstance(last, ParsedAtom) and token.kind in _IN_EXPRESSIONS:
            self.no_value(last)
        if isinstance(last, ParsedAtom) and last.name is self.previous and token.kind in _TERMS:
            if last.name.text in AGGREGATES:
                self.fail(token, f"expected '{{', found {token}", aggregate_hint(last.name.text))
            shown = f"{written(last.name.text)}({_term(token)}, ...)"
            hint = f"arguments stand in parentheses: {shown}"
        self.fail(token, f"expected {expected}, found {token}", hint)

    def foreign_set(self, token: Token) -> NoReturn:
        """Report a brace or colon, as other languages write aggregates and conditions."""
        if token.kind is Kind.COLON and self.after_next() is not Kind.OPEN_SET:
            self.fail(token, "':' is not part of a body", _FOR_ALL)
        self.fail(token, f"{token} cannot stand here", aggregate_hint("count"))

    def no_value(self, atom: ParsedAtom) -> NoReturn:
        """Report an atom that is used as if it were a function."""
        first = next(token for token in self.tokens if token.start == atom.name.start)
        shown = self.one_line(first, self.previous)
        arguments = shown[:-1] + ", N)" if atom.terms else f"{written(atom.name.text)}(N)"
        self.fail(
            replace(first, place=atom.place),
            f"'{shown}' is an atom, which has no value",
            f"write the value as an argument, '{arguments}', and compare N",
        )

    def at_rule(self) -> bool:
        """Return whether a new rule seems to start here, so that the `.` before it is missing.

        It starts with a name at the start of a line, or with an atom and `:-`.
        """
        if self.next.kind is not Kind.NAME or self.next.place.column == 1:
            return self.next.kind is Kind.NAME
        position = self.position + 1
        inside = False
        while True:
            kind = self.tokens[position].kind
            if kind is Kind.IF:
                return not inside
            if kind is Kind.OPEN and not inside:
                inside = True
            elif kind is Kind.CLOSE and inside:
                return self.tokens[position + 1].kind is Kind.IF
            elif not inside or kind not in (*_TERMS, Kind.COMMA):
                return False
            position += 1

    # Parts of bodies

    def part(self, missing: str, hint: str) -> ParsedAtom | Comparison:
        """Read a literal or comparison; `missing` is the message if there is none."""
        token = self.next
        if token.kind in (Kind.DOT, Kind.END):
            self.fail(token, missing, hint)
        negated = self.accept(Kind.NOT)
        first = self.next
        if first.kind is Kind.NOT:
            self.fail(first, "'not' stands twice", "write it once, or not at all")
        if first.kind is Kind.OPEN and self.after_next() is Kind.NAME:
            self.fail(first, *_PDDL_ATOM)
        starts_expression = first.kind in (Kind.NUMBER, Kind.MINUS, Kind.OPEN)
        if first.kind is Kind.NAME and self.after_next() is Kind.OPEN_SET:
            starts_expression = True
        if starts_expression or (first.kind in _TERMS and self.after_next() in _IN_EXPRESSIONS):
            return self.comparison(token, negated)
        if first.kind in _SETS:
            self.foreign_set(first)
        if first.kind is not Kind.NAME and self.after_next() not in (Kind.OPEN, Kind.AT):
            self.fail(first, f"expected a literal, found {first}", self.literal_hint(first))
        return self.atom(token, negated)

    def literal_hint(self, first: Token) -> str:
        """Return the hint for a part of a body that is no literal."""
        operator = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if first.kind is Kind.VARIABLE and operator.kind is Kind.NAME:
            if operator.text == "is":
                return f"write '{first.text} = ...'"
            if operator.text in ("mod", "div"):
                return "integers have '+', '-' and '*'"
        return _LITERAL

    def comparison(self, start: Token, negated: bool) -> Comparison:
        left = self.expression()
        if self.next.kind not in _COMPARISONS:
            hint = "integers are compared by '=', '!=', '<', '<=', '>' and '>='"
            if self.next.kind is Kind.OPEN:
                name = self.text[start.start : self.next.start].strip().lower()
                hint = f"a name with special characters stands in quotes: {quoted(name)}"
            if self.next.kind in _SETS:
                hint = aggregate_hint("count")
            self.fail(self.next, f"expected a comparison, found {self.next}", hint)
        operator = _COMPARISONS[self.take().kind]
        right = self.expression()
        if negated:
            opposite = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
            hint = f"write '{left} {opposite[operator]} {right}'"
            self.fail(start, "a comparison cannot be negated", hint)
        return Comparison(left, operator, right, self.extent(start))

    # Expressions

    def expression(self, opening: Token | None = None) -> Expression:
        """Read a sum of products."""
        start = self.position
        result = self.product(opening)
        while self.next.kind in _SUMS:
            operator = _SUMS[self.take().kind]
            result = Operation(operator, result, self.product(opening))
            self.limit(start)
        return result

    def product(self, opening: Token | None) -> Expression:
        start = self.position
        result = self.factor(opening)
        while self.next.kind in _PRODUCTS:
            operator = _PRODUCTS[self.take().kind]
            result = Operation(operator, result, self.factor(opening))
            self.limit(start)
        return result

    def factor(self, opening: Token | None) -> Expression:
        token = self.next
        if token.kind is Kind.MINUS:
            self.take()
            self.nest(token)
            inner = self.factor(opening)
            self.nesting -= 1
            if isinstance(inner, Number):
                return Number(str(-inner.value), token.place)
            return Operation("-", Number("0", token.place), inner)
        if token.kind is Kind.OPEN:
            self.take()
            self.nest(token)
            inner = self.expression(token)
            self.nesting -= 1
            if not self.accept(Kind.CLOSE):
                self.never_closed(token)
            return inner
        if token.kind is Kind.NAME and self.after_next() is Kind.OPEN_SET:
            return self.aggregate()
        return self.term(opening)

    def nest(self, token: Token) -> None:
        self.nesting += 1
        if self.nesting > _MOST_PARTS:
            self.fail(token, f"more than {_MOST_PARTS} levels in an expression", "simplify it")

    def limit(self, start: int) -> None:
        if self.position - start > 2 * _MOST_PARTS:
            hint = "compute a part of it in a rule of its own"
            self.fail(self.tokens[start], f"more than {_MOST_PARTS} parts in an expression", hint)

    def aggregate(self) -> ParsedAggregate:
        start = self.take()
        opening = self.take()
        self.nest(start)
        elements = [self.expression(opening)]
        while self.accept(Kind.COMMA):
            elements.append(self.expression(opening))
        if not self.accept(Kind.COLON):
            hint = aggregate_hint(start.text)
            if start.text == "min":
                hint += "; in a head, the least value is written 'min D + 1'"
            self.fail(self.next, f"expected ',' or ':', found {self.next}", hint)
        body = [self.part("the set has no condition", "write literals after ':'")]
        while self.accept(Kind.COMMA):
            body.append(self.part("expected a literal after ','", _LITERAL))
        if not self.accept(Kind.CLOSE_SET):
            self.fail(
                opening, "this '{' is never closed", f"expected ',' or '}}' before {self.next}"
            )
        self.nesting -= 1
        text = self.one_line(start, self.previous)
        return ParsedAggregate(text, self.extent(start), start.text, tuple(elements), tuple(body))

    def atom(self, start: Token, negated: bool) -> ParsedAtom:
        name = self.take()
        if name.kind is not Kind.NAME:  # the caller saw that `(` or `@` follows
            name = self.lower_case(name)
        status = None
        if self.accept(Kind.AT):
            status = self.next
            if status.kind not in (Kind.NAME, Kind.VARIABLE):
                hint = "write '@goal', '@ag', '@ug', '@aa' or '@un'"
                self.fail(status, f"expected a goal status after '@', found {status}", hint)
            status = replace(self.take(), text=status.text.lower())
        terms, least = self.terms() if self.next.kind is Kind.OPEN else ((), None)
        return ParsedAtom(name, status, terms, negated, self.extent(start), least)

    def lower_case(self, token: Token) -> Token:
        """Report `On(A, B)`, and read it as `on(A, B)`."""
        if token.kind is not Kind.VARIABLE:
            self.fail(token, f"expected a literal, found {token}", _LITERAL)
        name = token.text.strip("_").lower() or "p"
        message = f"'{token.text}' is written like a variable"
        self.diagnostics.error(token.place, message, f"names start with a small letter: '{name}'")
        return replace(token, kind=Kind.NAME, text=name)

    def terms(self) -> tuple[tuple[Expression, ...], int | None]:
        """Read arguments; return them and the number of the one after `min`."""
        opening = self.take()
        if self.accept(Kind.CLOSE):
            return (), None
        least: int | None = None
        terms: list[Expression] = []
        while True:
            if self.at_minimum():
                if least is not None:
                    self.fail(self.next, "'min' stands twice", "an atom has one least value")
                self.take()
                least = len(terms)
            terms.append(self.expression(opening))
            if self.accept(Kind.CLOSE):
                return tuple(terms), least
            if self.next.kind in _TERMS:
                hint = "separate arguments with ','"
                self.fail(self.next, f"expected ',' or ')', found {self.next}", hint)
            if not self.accept(Kind.COMMA):
                self.never_closed(opening)

    def at_minimum(self) -> bool:
        """Return whether `min` stands before an expression; else it is the name of an object."""
        following = (Kind.VARIABLE, Kind.NUMBER, Kind.MINUS, Kind.OPEN)
        return self.next == replace(self.next, kind=Kind.NAME, text="min") and (
            self.after_next() in following
        )

    def term(self, opening: Token | None = None) -> Term:
        token = self.next
        if token.kind not in _TERMS:
            if opening and token.kind in (Kind.DOT, Kind.END, Kind.IF):
                self.never_closed(opening)
            hint = "an argument is a variable, the name of an object, an integer, or '_'"
            self.fail(token, f"expected an argument, found {token}", hint)
        if self.at_minimum():
            hint = "a body reads the least value, or an aggregate: 'N = min { D : p(X, D) }'"
            self.fail(token, "'min' can stand in heads only", hint)
        if token.kind is Kind.NAME and self.after_next() is Kind.OPEN:
            is_in_set = opening is not None and opening.kind is Kind.OPEN_SET
            if token.text in AGGREGATES or is_in_set:
                name = self.tokens[self.position - 2].text if is_in_set else token.text
                message = f"'{written(token.text)}(' cannot stand here"
                self.fail(token, message, aggregate_hint(name if name in AGGREGATES else "count"))
            if opening is None:
                self.no_value(self.atom(token, negated=False))
            hint = f"terms are not nested; is a ')' missing before {quoted(token.text)}?"
            self.fail(token, f"'{written(token.text)}(' cannot stand here", hint)
        return _term(self.take())

    def never_closed(self, opening: Token) -> NoReturn:
        hint = f"expected ',' or ')' before {self.next}"
        self.fail(opening, "this '(' is never closed", hint)

    # Places

    def extent(self, start: Token) -> Place:
        """Return the place from a token to the last one read, or its own if that ends elsewhere."""
        last = self.previous
        if last.place.line != start.place.line:
            return start.place
        return start.place._replace(length=last.start + last.place.length - start.start)

    def one_line(self, first: Token, last: Token) -> str:
        text = self.text[first.start : last.start + last.place.length]
        return " ".join(_COMMENT.sub(r"\1", text).split())


def _term(token: Token) -> Term:
    match token.kind:
        case Kind.VARIABLE:
            return Variable(token.text, token.place)
        case Kind.WILDCARD:
            return Wildcard(place=token.place)
        case Kind.NUMBER:
            return Number(str(int(token.text)), token.place)
        case _:
            return Constant(token.text, token.place)


def _head_hint(token: Token) -> str:
    if token.kind is Kind.VARIABLE:
        return "names of actions and predicates start with a small letter"
    return "write 'head :- body.' or 'head.'"
