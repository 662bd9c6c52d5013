"""Arithmetic as reports write it: parsed, of few operations, in decimals; nothing is executed.

expression = term {("+" | "-") term};  term = factor {("*" | "/") factor};
factor = ["+" | "-"] (number ["%"] | "(" expression ")")

A number may be written as it is printed: `$1,496.5`, `60.3 million`, `4.5%`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow

MOST_CHARACTERS = 500
_MOST_DIGITS = 40
_DEEPEST = 20
_EXACT = Context(prec=50, traps=[DivisionByZero, InvalidOperation, Overflow])
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[$€£¥]\s?)?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:\s?(?P<scale>thousand|million|billion|trillion)s?\b)?(?P<percent>\s?%)?)"
    r"|(?:[$€£¥]\s?(?=[-(]))?(?P<sign>[-+*/()]))",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SAME = str.maketrans({"−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "÷": "/", "[": "(",
                       "]": ")", "{": "(", "}": ")", "\u00a0": " ", "\u202f": " "})  # fmt: skip


class NotArithmetic(ValueError):
    """A text is no expression that is computed here; one line that says why."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number of an expression as it is written there: ``text`` without its sign, and its value.

    ``is_percent``: a percent sign stands behind it; the value is then still that of the digits.
    ``has_scale``: a word such as "million" does, which the value counts. ``start`` and ``end`` are
    its characters in the expression.
    """

    text: str
    value: Decimal
    is_percent: bool
    has_scale: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Operation:
    """Two parts with ``+``, ``-``, ``*`` or ``/`` between them."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Negated:
    """A part with a minus in front of it."""

    part: Node


Node = Literal | Operation | Negated


def parse(expression: str, *, printed: bool = False) -> Node:
    """The expression as a tree.

    ``printed``: a number that stands alone in brackets is negative, as reports print it.

    Raises:
        NotArithmetic: it has anything else than numbers, ``+ - * /`` and brackets, or is too long.
    """
    if len(expression) > MOST_CHARACTERS:
        raise NotArithmetic(f"the expression has over {MOST_CHARACTERS} characters")
    parser = _Parser(_tokens(expression.translate(_SAME)), printed)
    tree = parser.expression(0)
    if parser.token is not None:
        raise NotArithmetic(f"there is a {parser.said} too many")
    return tree


def literals(node: Node) -> Iterator[Literal]:
    """The numbers of an expression, in the order in which they are written."""
    if isinstance(node, Literal):
        yield node
    elif isinstance(node, Negated):
        yield from literals(node.part)
    else:
        yield from literals(node.left)
        yield from literals(node.right)


def evaluate(node: Node) -> Decimal:
    """The value to 50 digits; numbers with a percent sign are counted in hundredths.

    A sum of numbers that all have the sign stays in percent: 34% + 11% are 45.

    Raises:
        NotArithmetic: it divides by nothing, or leaves the range of decimals.
    """
    try:
        value, _ = _valued(node)
    except (DivisionByZero, InvalidOperation):
        raise NotArithmetic("the expression divides by zero") from None
    except Overflow:
        raise NotArithmetic("the result is too large") from None
    return value


def shape(node: Node) -> object:
    """The form shared by all ways to write an expression: its values and operations."""
    if isinstance(node, Literal):
        return node.value, node.is_percent
    if isinstance(node, Negated):
        return "-", shape(node.part)
    return node.sign, shape(node.left), shape(node.right)


def is_percentage(node: Node) -> bool:
    """True if the value of an expression counts hundredths, as of 34% + 11%."""
    return _valued(node)[1]


def _valued(node: Node) -> tuple[Decimal, bool]:
    if isinstance(node, Literal):
        return node.value, node.is_percent
    if isinstance(node, Negated):
        value, is_percent = _valued(node.part)
        return _EXACT.minus(value), is_percent
    (left, left_percent), (right, right_percent) = _valued(node.left), _valued(node.right)
    if node.sign in "+-":
        if left_percent != right_percent:
            left, right = _plain(left, left_percent), _plain(right, right_percent)
        both = left_percent and right_percent
        combine = _EXACT.add if node.sign == "+" else _EXACT.subtract
        return combine(left, right), both
    if node.sign == "*":
        if left_percent and right_percent:
            left, left_percent = _plain(left, True), False
        return _EXACT.multiply(left, right) / (100 if left_percent != right_percent else 1), False
    if left_percent and not right_percent:
        return _EXACT.divide(left, right), True
    return _EXACT.divide(left, _plain(right, right_percent and not left_percent)), False


def _plain(value: Decimal, is_percent: bool) -> Decimal:
    return _EXACT.divide(value, Decimal(100)) if is_percent else value


def _tokens(text: str) -> Iterator[Literal | str]:
    """The numbers and signs of an expression."""
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at, end)
        if found is None:
            rest = text[at:end].strip()[:30]
            raise NotArithmetic(f"only numbers, + - * / and brackets are computed, not {rest!r}")
        at = found.end()
        if found["sign"]:
            yield found["sign"]
            continue
        digits = found["digits"].replace(",", "")
        if len(digits) > _MOST_DIGITS:
            raise NotArithmetic(f"a number has over {_MOST_DIGITS} digits")
        value = Decimal(digits).scaleb(_SCALES.get((found["scale"] or "").lower(), 0))
        flags = bool(found["percent"]), bool(found["scale"])
        yield Literal(found["number"], value, *flags, *found.span("number"))


class _Parser:
    """Reads an expression from its start; ``token`` is what comes next, None at its end."""

    def __init__(self, tokens: Iterator[Literal | str], printed: bool) -> None:
        self._tokens = tokens
        self._printed = printed
        self.token = next(tokens, None)

    @property
    def said(self) -> str:
        """The next token, as messages to people name it."""
        return repr(self.token.text if isinstance(self.token, Literal) else self.token)

    def _take(self, signs: str) -> str:
        """The next token, if it is one of ``signs``; '' otherwise."""
        if isinstance(self.token, str) and self.token in signs:
            taken, self.token = self.token, next(self._tokens, None)
            return taken
        return ""

    def expression(self, depth: int) -> Node:
        """Terms with plus or minus between them, from the left."""
        if depth > _DEEPEST:
            raise NotArithmetic(f"the brackets are over {_DEEPEST} deep")
        node = self._term(depth)
        while sign := self._take("+-"):
            node = Operation(sign, node, self._term(depth))
        return node

    def _term(self, depth: int) -> Node:
        node = self._factor(depth)
        while sign := self._take("*/"):
            node = Operation(sign, node, self._factor(depth))
        return node

    def _factor(self, depth: int) -> Node:
        if isinstance(self.token, Literal):
            number, self.token = self.token, next(self._tokens, None)
            return number
        if depth <= _DEEPEST and (sign := self._take("+-")):
            part = self._factor(depth + 1)
            return part if sign == "+" else Negated(part)
        if not self._take("("):
            before = f" before {self.said}" if self.token else " at the end"
            raise NotArithmetic(f"a number is missing{before}")
        inner = self.expression(depth + 1)
        if not self._take(")"):
            raise NotArithmetic("a bracket is not closed")
        return Negated(inner) if self._printed and isinstance(inner, Literal) else inner
