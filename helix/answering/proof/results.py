"""Proof of statements that cite a tool's result: a calculation, or the time.

A right sum over wrong numbers proves nothing. So each number that was computed with must stand in
the question, or in a part of the same sentence that cites a passage for it; the calculation is
computed again; and the statement says no word and no number beyond these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from helix.answering.proof.calculated import Equation, equation_of
from helix.answering.proof.facts import Facts
from helix.answering.proof.lexicon import changes_claim
from helix.answering.proof.model import CLAIM, NAME, NEGATION, NUMBER, WORDS, Support
from helix.answering.proof.numbers import Number
from helix.answering.proof.presence import name_missing, number_missing, polarity_differs
from helix.domain.arithmetic import NotArithmetic, evaluate, literals, parse
from helix.domain.records import Hit
from helix.domain.tool_results import ToolResult
from helix.language.terms import terms
from helix.language.word_lists import word_lists

_ANNOUNCING = frozenset(
    term for word in word_lists("statements")["announcing"] for term in terms(word)
)
_SHARE = "share"
_WHOLES = frozenset({Decimal(1), Decimal(100)})
"""The whole that a share is taken of: the 1 of `1 - 0.15`, the 100 of `15 / 100`."""
_LEAST_DECIMALS = 2
_VALUE = re.compile(r"-?\d+(?:\.\d+)?\Z", re.ASCII)


def result_problem(claim: str, result: ToolResult, question: str, beside: str = "") -> str | None:
    """The reason why ``result`` does not bear out a statement that cites it; None if it does.

    ``beside`` are the parts of its sentence that cite passages, which are proven by themselves.
    """
    said, asked, told = Facts(claim), Facts(question), Facts(result.text)
    if result.kind == "clock":
        problem = _of_clock(said, told)
        known = told.stems | _keys_of_names_excepted(asked)
    else:
        problem = _of_calculation(said, result, asked, Facts(beside))
        known = asked.stems | Facts(beside).stems | Facts(result.title).stems
    if problem:
        return problem
    if _words(said) - known - _ANNOUNCING:
        return WORDS
    both = Facts(f"{question}\n{beside}\n{result.text}")
    if polarity_differs(said, both) or said.negations:
        return NEGATION
    return CLAIM if changes_claim(both.lows, said.lows, said.lows) else None


def support_of_result(n: int, hit: Hit) -> Support:
    """The whole of a tool's result as what a statement rests on; it stands in no document."""
    ids = hit.chunk_id, hit.document_id
    return Support(n, *ids, 0, len(hit.content), hit.content, None, of_tool=True)


def _words(said: Facts) -> frozenset[str]:
    """The content words of a statement without its numbers and their units."""
    measured = {stem for one in said.numbers for stem in terms(said.text[one.start : one.until])}
    return frozenset(w for w in said.content - measured if not any(map(str.isdigit, w)))


def _keys_of_names_excepted(asked: Facts) -> frozenset[str]:
    return asked.stems - frozenset(stem for name in asked.capitals for stem in terms(name))


def _of_clock(said: Facts, told: Facts) -> str | None:
    if number_missing(said, [told]):
        return NUMBER
    return NAME if name_missing(said, [told], "", told.capitals) else None


def _of_calculation(said: Facts, result: ToolResult, asked: Facts, beside: Facts) -> str | None:
    """NUMBER if a statement's numbers do not fit the result, the question and those beside it."""
    if not result.holds():
        return NUMBER
    computed = _computed_with(result.expression)
    given, stated = _sure(beside), _sure(said)
    wanted = _sure(asked) + given
    known = frozenset[Decimal]().union(*map(_values, wanted))
    known |= _WHOLES if any(map(_is_share, wanted)) else frozenset()
    if not known.issuperset(computed):
        return NUMBER
    if (equation := equation_of(said.text)) is not None:
        return None if _states(equation, result) else NUMBER
    for told, rest in _splits(stated):
        if _is_result(told, result, wanted) and _are_operands(rest, computed, wanted, given):
            return None
    return NUMBER


def _sure(facts: Facts) -> list[Number]:
    return [one for one in facts.numbers if one.sure]


def _computed_with(expression: str) -> list[Decimal]:
    """The true values of an expression's numbers: 0.15 of 15%."""
    numbers = literals(parse(expression))
    return [one.value / 100 if one.is_percent else one.value for one in numbers]


def _splits(numbers: Sequence[Number]) -> Iterator[tuple[Number, Sequence[Number]]]:
    """The number that may be the result, the last or the first, and the others in their order."""
    if numbers:
        yield numbers[-1], numbers[:-1]
        yield numbers[0], numbers[1:]


def _are_operands(
    rest: Sequence[Number],
    computed: Sequence[Decimal],
    wanted: Sequence[Number],
    given: Sequence[Number],
) -> bool:
    """True if ``rest`` are the numbers computed with, in the order of those ``wanted``.

    The statement need not repeat the numbers ``given`` beside it. If it gives the result alone, the
    calculation has to have all that are wanted.
    """
    if not rest:
        return all(not _values(one).isdisjoint(computed) for one in wanted)
    others = iter(wanted)
    in_order = all(any(_values(one) & _values(other) for other in others) for one in rest)
    stated = frozenset[Decimal]().union(*map(_values, (*rest, *given)))
    used = all(not _values(one).isdisjoint(computed) for one in rest)
    return in_order and used and (stated | _WHOLES).issuperset(computed)


def _is_result(number: Number, result: ToolResult, wanted: Sequence[Number]) -> bool:
    """True if a number is the result, in the decimals that it is told with, two at least."""
    is_percent = result.result.endswith("%")
    if is_percent != _is_share(number):
        return False
    units = {one.unit for one in wanted}
    if not is_percent and number.unit is not None and number.unit not in units:
        return False
    return any(_rounds_to(_exact(result), text) for text in number.values)


def _exact(result: ToolResult) -> Decimal:
    return Decimal(result.result.rstrip("%").replace(",", ""))


def _rounds_to(exact: Decimal, text: str) -> bool:
    try:
        told = Decimal(text)
    except InvalidOperation:
        return False
    places, decimals = _decimals(told), _decimals(exact.normalize())
    close = abs(exact - told) * 2 <= Decimal(1).scaleb(-places)
    return close and places >= min(_LEAST_DECIMALS, decimals)


def _decimals(number: Decimal) -> int:
    return max(0, -int(number.as_tuple().exponent))


def _states(equation: Equation, result: ToolResult) -> bool:
    """True if an equation is the calculation: the same numbers, the same value, its result."""
    try:
        value = evaluate(parse(equation.expression))
        same_numbers = sorted(_computed_with(equation.expression)) == sorted(
            _computed_with(result.expression)
        )
        same_value = value == evaluate(parse(result.expression))
    except NotArithmetic:
        return False
    same_unit = (equation.unit == "%") == result.result.endswith("%")
    return same_numbers and same_value and same_unit and _rounds_to(_exact(result), equation.told)


def _is_share(number: Number) -> bool:
    return number.unit is not None and number.unit.dimension == _SHARE


def _values(number: Number) -> frozenset[Decimal]:
    """Values by which a calculation may have a number: 15% as 15 and as 0.15."""
    texts = (text for text in number.values if _VALUE.match(text))
    found = frozenset(map(Decimal, texts))
    if number.unit is not None and _is_share(number):
        found |= {value * number.unit.factor for value in found}
    return found
