"""Recursive-descent parser: tokens to rules with unresolved names.

After an error the parser resumes after the next `.`, so one run reports the errors of several
rules. The grammar:

    program    = { rule | forbidden | order | family }
    rule       = atom [ ":-" body ] "."
    forbidden  = ":-" body "."
    order      = ( "else" | "prefer" ) [ "for" VARIABLE { "," VARIABLE } ] [ "." ]
    family     = "family" atom "=" atom { "|" atom } "."
    body       = ( part | choice ) { "," part } { "," choice }
    part       = [ "not" ] [ "can" ] atom | "not" "(" part { "," part } ")"
               | expression operator expression
    choice     = ( "minimise" | "maximise" ) expression [ group ] | "any" variables [ group ]
    group      = "for" variables
    variables  = VARIABLE { "," VARIABLE }
    operator   = "=" | "!=" | "<" | "<=" | ">" | ">="
    atom       = NAME [ "@" NAME ] [ "(" [ argument { "," argument } ] ")" ]
    argument   = [ NAME ":" ] ( [ "min" ] expression | "_" )
    expression = product { ( "+" | "-" ) product }
    product    = factor { "*" factor }
    factor     = VARIABLE | NAME | NUMBER | "-" factor | "(" expression ")" | aggregate
    aggregate  = kind "{" expression { "," expression } ":" part { "," part } "}"
    kind       = "count" | "sum" | "min" | "max" | "first"

A NAME with other characters than letters, digits, `-` and `_`, or with digits only, stands in
single quotes. `min` can stand in heads only. A word such as `else` or `any` is a name where what
follows it does not make it a keyword.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

from planlog.datalog.diagnostics import Diagnostics, Place
from planlog.datalog.lexer import Kind, Token, aggregate_hint, tokenize
from planlog.datalog.syntax import (
    AGGREGATES,
    Choice,
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
    names: tuple[Token | None, ...] = ()  # of the parameters that the arguments stand for
    can: bool = False  # `can a(...)`: the action is applicable


@dataclass(frozen=True)
class ParsedConjunction:
    """`not (p, q)`: the parts do not hold together."""

    parts: tuple[ParsedAtom | Comparison, ...]
    place: Place


ParsedPart = ParsedAtom | Comparison | ParsedConjunction


class ParsedRule(NamedTuple):
    """A rule, fact or prohibition, with its source text on one line."""

    head: ParsedAtom
    body: tuple[ParsedPart, ...]
    text: str
    choices: tuple[Choice, ...] = ()
    forbids: bool = False  # a prohibition, whose first literal is the head
    block: int = -1  # number of `else` and `prefer` before it; -1 if it is not in the file
    is_generated: bool = False  # written out for another part of the file, which `text` repeats


class ParsedOrder(NamedTuple):
    """`else` or `prefer` between rules."""

    kind: str
    group: tuple[Variable, ...]
    place: Place


class ParsedFamily(NamedTuple):
    """Actions with a common name."""

    head: ParsedAtom
    members: tuple[ParsedAtom, ...]


class ParsedFile(NamedTuple):
    """The statements of a file that have no syntax errors."""

    rules: tuple[ParsedRule, ...]
    # Names in rules with syntax errors. These rules may define them, so they are not unknown.
    skipped_names: frozenset[str]
    orders: tuple[ParsedOrder, ...] = ()
    families: tuple[ParsedFamily, ...] = ()
    has_shorthand: bool = False  # families, named parameters or `not (...)`
    computes: bool = False  # expressions or aggregates


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
ORDERS = ("else", "prefer")
_AFTER_ORDER = (Kind.NAME, Kind.DOT, Kind.END)
_EXTREMES = {"minimise": "minimise", "maximise": "maximise"}
_EXTREMES |= {"minimize": "minimise", "maximize": "maximise"}
_AFTER_MINIMUM = (Kind.VARIABLE, Kind.NUMBER, Kind.MINUS)
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
        self.rules: list[ParsedRule] = []
        self.orders: list[ParsedOrder] = []
        self.families: list[ParsedFamily] = []
        self.has_shorthand = self.computes = False

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
        skipped: set[str] = set()
        while self.next.kind is not Kind.END:
            start = self.position
            try:
                self.statement()
            except _ResumeError as error:
                self.nesting = 0
                if error.position is None:
                    self.skip_rule()
                else:
                    self.position = error.position
                unread = self.tokens[start : self.position]
                skipped.update(token.text for token in unread if token.kind is Kind.NAME)
        return ParsedFile(
            tuple(self.rules),
            frozenset(skipped),
            tuple(self.orders),
            tuple(self.families),
            self.has_shorthand,
            self.computes,
        )

    def skip_rule(self) -> None:
        while self.next.kind is not Kind.END and self.take().kind is not Kind.DOT:
            pass

    def statement(self) -> None:
        """Read a rule, prohibition, order or family."""
        if self.next.kind is Kind.IF:
            self.rules.append(self.prohibition())
        elif self.is_keyword(*ORDERS) and self.after_next() in _AFTER_ORDER:
            self.orders.append(self.order())
        elif self.is_keyword("family") and self.after_next() is Kind.NAME:
            self.families.append(self.family())
        else:
            self.rules.append(self.rule())

    def is_keyword(self, *words: str) -> bool:
        """Return whether the next token is one of these words, and not quoted."""
        token = self.next
        is_word = token.kind is Kind.NAME and token.text in words
        return is_word and self.text[token.start] not in "'\""

    def rule(self) -> ParsedRule:
        start = self.next
        head = self.head()
        body: tuple[ParsedPart, ...] = ()
        choices: tuple[Choice, ...] = ()
        if self.accept(Kind.IF):
            body, choices = self.body("the body is empty", "a fact is written without ':-'")
        else:
            self.fact_ends(head)
        text = self.one_line(start, self.previous)
        return ParsedRule(head, body, text, choices, block=len(self.orders))

    def prohibition(self) -> ParsedRule:
        """Read `:- a(X), p(X).`, which forbids the action a(X)."""
        start = self.take()
        first = self.next
        if first.kind in (Kind.DOT, Kind.END):
            self.fail(start, "a rule needs a head before ':-'", "write 'head :- body.'")
        body, choices = self.body("", "")
        hint = "write ':- a(X, Y), condition.', where a is the action that is forbidden"
        head = body[0] if body else None
        if not isinstance(head, ParsedAtom) or head.negated or head.can:
            self.fail(first, "a rule without a head begins with the action that it forbids", hint)
        if choices:
            message = "a prohibition cannot choose among its answers"
            self.diagnostics.error(choices[0].place, message, "choose in a rule of its own")
        text = self.one_line(start, self.previous)
        return ParsedRule(head, body[1:], text, forbids=True, block=len(self.orders))

    def order(self) -> ParsedOrder:
        start = self.take()
        group: tuple[Variable, ...] = ()
        if self.is_keyword("for") and self.after_next() is not Kind.OPEN:
            group = self.variables(self.take())
        extent = self.extent(start)
        self.accept(Kind.DOT)
        return ParsedOrder(start.text, group, extent)

    def family(self) -> ParsedFamily:
        self.has_shorthand = True
        self.take()
        head = self.atom(self.next, negated=False)
        hint = "write 'family park(C, D) = a(C, _, D) | b(C, D).'"
        if not self.accept(Kind.EQUAL):
            self.fail(self.next, f"expected '=' after the family, found {self.next}", hint)
        members: list[ParsedAtom] = []
        while not members or self.accept(Kind.BAR):
            if self.next.kind is not Kind.NAME:
                self.fail(self.next, f"expected an action, found {self.next}", hint)
            members.append(self.atom(self.next, negated=False))
        if not self.accept(Kind.DOT):
            self.fail(self.next, f"expected '|' or '.', found {self.next}", hint)
        return ParsedFamily(head, tuple(members))

    def body(self, missing: str, hint: str) -> tuple[tuple[ParsedPart, ...], tuple[Choice, ...]]:
        """Read the parts of a body, and the choices that end it."""
        body: list[ParsedPart] = []
        choices: list[Choice] = []
        while True:
            if self.at_choice():
                choices += self.choice()
            elif choices:
                message = f"expected '.' after '{choices[-1]}', found {self.next}"
                self.fail(self.next, message, "choices stand at the end of a body")
            else:
                body.append(self.part(missing, hint))
            if self.body_ends(body, choices):
                return tuple(body), tuple(choices)
            missing = f"expected a literal after ',', found {self.next}"
            hint = "delete the ',' before it, or complete the body"

    # Choices

    def at_choice(self) -> bool:
        """Return whether the next token is a keyword of a choice, and not the name of an atom."""
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if self.is_keyword("any"):
            return following.kind is Kind.VARIABLE
        if not self.is_keyword(*_EXTREMES):
            return False
        is_apart = following.start > self.next.start + self.next.place.length
        if following.kind is Kind.NAME and following.text in AGGREGATES:
            return True
        return following.kind in _AFTER_MINIMUM or (following.kind is Kind.OPEN and is_apart)

    def choice(self) -> list[Choice]:
        """Read a choice; `any X, Y` counts as two."""
        start = self.take()
        keys: list[Expression]
        if start.text == "any":
            keys = list(self.variables(start))
        else:
            keys = [self.expression()]
        group: tuple[Variable, ...] = ()
        if self.is_keyword("for"):
            group = self.variables(self.take())
        kind = _EXTREMES.get(start.text, start.text)
        return [Choice(kind, key, group, self.extent(start)) for key in keys]

    def variables(self, start: Token) -> tuple[Variable, ...]:
        """Read variables separated by commas; a comma before anything else is left."""
        found: list[Variable] = []
        while not found or (self.next.kind is Kind.COMMA and self.after_next() is Kind.VARIABLE):
            if found:
                self.take()
            if self.next.kind is not Kind.VARIABLE:
                message = f"expected a variable after '{self.previous.text}', found {self.next}"
                self.fail(self.next, message, f"write '{start.text} X' or '{start.text} X, Y'")
            found.append(Variable(self.next.text, self.take().place))
        return tuple(found)

    def head(self) -> ParsedAtom:
        token = self.next
        match token.kind:
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

    def body_ends(self, body: list[ParsedPart], choices: list[Choice]) -> bool:
        """Read the `.` or `,` after a literal or choice. Return whether the body ends."""
        token = self.next
        if self.accept(Kind.DOT):
            return True
        if self.accept(Kind.COMMA):
            return False
        if token.kind is Kind.END or self.at_rule():
            self.missing_dot()
            return True
        if token.kind is Kind.IF:
            self.second_arrow((choices or body)[-1])
        if choices:
            hint = "a choice ends a body: write '.' after it, or ',' before the next one"
            self.fail(token, f"expected '.' after '{choices[-1]}', found {token}", hint)
        hint = "separate literals with ',' and end each rule with '.'"
        self.unexpected("',' or '.'", body[-1], hint)

    def missing_dot(self) -> None:
        line, column, length = self.previous.place
        message = "expected '.' at the end of the rule"
        self.diagnostics.error(Place(line, column + length, 1), message, "add '.'")

    def second_arrow(self, last: ParsedPart | Choice) -> NoReturn:
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

    def unexpected(self, expected: str, last: ParsedPart, hint: str) -> NoReturn:
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
            return self.next.kind is Kind.NAME and not self.is_keyword("for")
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

    def part(self, missing: str, hint: str) -> ParsedPart:
        """Read a literal, comparison or `not (...)`; `missing` is the message if there is none."""
        token = self.next
        if token.kind in (Kind.DOT, Kind.END):
            self.fail(token, missing, hint)
        negated = self.accept(Kind.NOT)
        first = self.next
        if first.kind is Kind.NOT:
            self.fail(first, "'not' stands twice", "write it once, or not at all")
        if first.kind is Kind.OPEN and negated and self.opens_conjunction():
            return self.conjunction(token)
        if first.kind is Kind.OPEN and self.after_next() is Kind.NAME:
            self.fail(first, *_PDDL_ATOM)
        if self.is_keyword("can") and self.after_next() is Kind.NAME:
            self.take()
            return replace(self.atom(token, negated), can=True)
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

    def opens_conjunction(self) -> bool:
        """Return whether a `(` opens parts of a body, and not an expression."""
        end = self.position + 1
        depth = 1
        while depth and self.tokens[end].kind not in (Kind.DOT, Kind.END, Kind.IF):
            depth += (self.tokens[end].kind is Kind.OPEN) - (self.tokens[end].kind is Kind.CLOSE)
            end += 1
        inside = {token.kind for token in self.tokens[self.position + 1 : end]}
        is_atom = self.after_next() in (Kind.NAME, Kind.NOT)
        is_pddl = is_atom and self.tokens[self.position + 2].kind in _TERMS
        return (is_atom and not is_pddl) or not inside.isdisjoint(_COMPARISONS)

    def conjunction(self, start: Token) -> ParsedConjunction:
        """Read `not (p, q)`."""
        self.has_shorthand = True
        opening = self.take()
        self.nest(opening)
        missing, hint = "'not ( )' negates nothing", "write literals between the parentheses"
        if self.next.kind is Kind.CLOSE:
            self.fail(opening, missing, hint)
        parts: list[ParsedAtom | Comparison] = []
        while not parts or self.accept(Kind.COMMA):
            inner = self.next
            part = self.part(missing, hint)
            if isinstance(part, ParsedConjunction):
                self.fail(inner, "'not (...)' stands inside another", "derive it in a rule")
            parts.append(part)
        if not self.accept(Kind.CLOSE):
            self.never_closed(opening)
        self.nesting -= 1
        return ParsedConjunction(tuple(parts), self.extent(start))

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
            self.computes = True
            operator = _SUMS[self.take().kind]
            result = Operation(operator, result, self.product(opening))
            self.limit(start)
        return result

    def product(self, opening: Token | None) -> Expression:
        start = self.position
        result = self.factor(opening)
        while self.next.kind in _PRODUCTS:
            self.computes = True
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
            self.computes = True
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
        self.computes = True
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
        body = [self.in_set("the set has no condition", "write literals after ':'")]
        while self.accept(Kind.COMMA):
            body.append(self.in_set("expected a literal after ','", _LITERAL))
        if not self.accept(Kind.CLOSE_SET):
            self.fail(
                opening, "this '{' is never closed", f"expected ',' or '}}' before {self.next}"
            )
        self.nesting -= 1
        text = self.one_line(start, self.previous)
        return ParsedAggregate(text, self.extent(start), start.text, tuple(elements), tuple(body))

    def in_set(self, missing: str, hint: str) -> ParsedAtom | Comparison:
        start = self.next
        part = self.part(missing, hint)
        if isinstance(part, ParsedConjunction):
            self.fail(start, "'not (...)' cannot stand in a set", "derive it in a rule")
        return part

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
        if self.next.kind is not Kind.OPEN:
            return ParsedAtom(name, status, (), negated, self.extent(start))
        terms, least, names = self.terms()
        return ParsedAtom(name, status, terms, negated, self.extent(start), least, names)

    def lower_case(self, token: Token) -> Token:
        """Report `On(A, B)`, and read it as `on(A, B)`."""
        if token.kind is not Kind.VARIABLE:
            self.fail(token, f"expected a literal, found {token}", _LITERAL)
        name = token.text.strip("_").lower() or "p"
        message = f"'{token.text}' is written like a variable"
        self.diagnostics.error(token.place, message, f"names start with a small letter: '{name}'")
        return replace(token, kind=Kind.NAME, text=name)

    def terms(self) -> tuple[tuple[Expression, ...], int | None, tuple[Token | None, ...]]:
        """Read arguments; return them, the number of the one after `min`, and their names."""
        opening = self.take()
        if self.accept(Kind.CLOSE):
            return (), None, ()
        least: int | None = None
        terms: list[Expression] = []
        names: list[Token | None] = []
        while True:
            names.append(self.parameter_name())
            if self.at_minimum():
                if least is not None:
                    self.fail(self.next, "'min' stands twice", "an atom has one least value")
                self.take()
                least = len(terms)
            terms.append(self.expression(opening))
            if self.accept(Kind.CLOSE):
                return tuple(terms), least, tuple(names) if any(names) else ()
            if self.next.kind in _TERMS:
                hint = "separate arguments with ','"
                self.fail(self.next, f"expected ',' or ')', found {self.next}", hint)
            if not self.accept(Kind.COMMA):
                self.never_closed(opening)

    def parameter_name(self) -> Token | None:
        """Read `name:` before an argument, if it is there."""
        if self.after_next() is not Kind.COLON or self.next.kind not in (Kind.NAME, Kind.VARIABLE):
            return None
        self.has_shorthand = True
        name = self.take()
        self.take()
        if name.kind is Kind.VARIABLE:
            hint = f"parameters have the names of the PDDL domain: '{name.text.lower()}: ...'"
            self.fail(name, f"'{name.text}' is a variable, not the name of a parameter", hint)
        return name

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
