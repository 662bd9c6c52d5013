"""calculator: arithmetic over numbers of the sources, each bound to the characters it stands in.

It computes and runs nothing (helix.domain.arithmetic). A number that stands in several places is
asked for again with its row and column: a right sum over the wrong row is worse than none. Where
not all numbers stand in a source, the calculation is a source of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from decimal import Decimal

from pydantic import Field

from helix.agent.figures import Figure, figures_of
from helix.agent.tool import Arguments, Tool, ToolContext, ToolFailure, ToolOutput
from helix.domain.arithmetic import Literal, NotArithmetic, literals, parse
from helix.domain.calculations import Operand, calculate, is_value
from helix.domain.expression_parts import constants_of
from helix.domain.question_analysis import numbers_in
from helix.domain.tool_results import calculation
from helix.language.paraphrases import meanings

_MOST_OPERANDS = 40
_PERCENT_OF = re.compile(r"%\s*of\s")
"""`15% of 2,340`, as models write the product too."""


class OperandArgument(Arguments):
    """The place of a number of the expression."""

    number: str = Field(max_length=40, description="As it is printed.")
    source: int | None = Field(None, ge=1, description="The number of its source.")
    row: str = Field("", max_length=300, description="What its row is called.")
    column: str = Field("", max_length=300, description="What its column is called.")


class CalculatorArguments(Arguments):
    """The expression, where its numbers stand, and whether the quotient is told in percent."""

    expression: str = Field(
        max_length=500, description="Numbers as printed, + - * / and brackets: (44.1 - 56.7) / 56.7"
    )
    operands: list[OperandArgument] = Field(
        default_factory=list, max_length=_MOST_OPERANDS, description="In any order, each once."
    )
    as_percent: bool = Field(False, description="Tell a quotient in percent.")


async def calculator(arguments: CalculatorArguments, context: ToolContext) -> ToolOutput:
    """The calculation over numbers of the ledger's passages, or else over numbers of their own.

    A result over numbers that stand in no passage is a source of its own. Where they stand in the
    question neither, it proves nothing (helix.answering.proof.results).
    """
    try:
        expression = _PERCENT_OF.sub("% * ", arguments.expression)
        tree = parse(expression)
        numbers = list(literals(tree))
        if not numbers or len(numbers) > _MOST_OPERANDS:
            raise NotArithmetic(f"an expression has 1 to {_MOST_OPERANDS} numbers")
        constants = constants_of(tree)
        figures = [
            (entry.number, figure)
            for entry in context.ledger.entries
            for figure in figures_of(entry.hit)
        ]
        asked = numbers_in(context.question)
        places = _places(numbers, constants, arguments.operands)
        operands = [
            None
            if number in constants or (argument is None and _digits(number) in asked)
            else _operand_of(number, argument, figures)
            for number, argument in zip(numbers, places, strict=True)
        ]
        if not any(operands) or any(
            one is None and number not in constants
            for one, number in zip(operands, numbers, strict=True)
        ):
            return ToolOutput((calculation(expression, as_percent=arguments.as_percent),))
        printed = _as_printed(expression, numbers, operands)
        bound = calculate(printed, tuple(operands), as_percent=arguments.as_percent)
    except NotArithmetic as error:
        raise ToolFailure(f"It cannot be computed: {error}.") from None
    return ToolOutput((bound.statement,), (bound,))


def _places(
    numbers: Sequence[Literal], constants: Collection[Literal], arguments: Sequence[OperandArgument]
) -> list[OperandArgument | None]:
    """The argument of each number: in order where every number has one, else by its value."""
    unbound = [number for number in numbers if number not in constants]
    in_order = [_value(one.number) for one in arguments] == [number.value for number in unbound]
    if in_order:
        rest = iter(arguments)
        return [None if number in constants else next(rest) for number in numbers]
    unused, places = list(arguments), list[OperandArgument | None]()
    for number in numbers:
        fitting = [one for one in arguments if _value(one.number) == number.value]
        # of two with one value the second number has the second; one argument may serve twice
        place = next((one for one in fitting if one in unused), next(iter(fitting), None))
        if place in unused:
            unused.remove(place)
        places.append(place)
    return places


def _operand_of(
    number: Literal, argument: OperandArgument | None, figures: Sequence[tuple[int, Figure]]
) -> Operand | None:
    """The place of a number; None where it stands nowhere.

    Raises:
        NotArithmetic: it stands in several places.
    """
    candidates = [
        figure
        for source, figure in figures
        if is_value(number, figure.operand)
        and (argument is None or argument.source in (None, source))
    ]
    if argument and (argument.row or argument.column):
        candidates = _with_names(argument, candidates)
    places = {(one.operand.document_id, one.operand.start): one.operand for one in candidates}
    cells = {(one.row, one.column, one.operand.scale) for one in candidates}
    if len(places) > 1 and len(cells) > 1:
        raise NotArithmetic(
            f"{number.text} stands in several places: give its source, row and column"
        )
    return next(iter(places.values()), None)


def _digits(number: Literal) -> str:
    return number.text.rstrip("% ").replace(",", "")


def _value(text: str) -> Decimal | None:
    try:
        return next(literals(parse(text.strip()))).value
    except NotArithmetic:
        return None


def _with_names(argument: OperandArgument, candidates: list[Figure]) -> list[Figure]:
    """The figures with these names of row and column, else those with the most words of them."""
    exact = [one for one in candidates if one.row == argument.row and one.column == argument.column]
    if exact:
        return exact
    row, column = frozenset(meanings(argument.row)), frozenset(meanings(argument.column))
    shares = [len(row & one.row_words) + len(column & one.column_words) for one in candidates]
    most = max(shares, default=0)
    return [one for one, share in zip(candidates, shares, strict=True) if share == most and most]


def _as_printed(
    expression: str, numbers: Sequence[Literal], operands: Sequence[Operand | None]
) -> str:
    """The expression with its numbers as they are printed: with their percent sign and minus."""
    parts, at = [], 0
    for number, operand in zip(numbers, operands, strict=True):
        parts.append(expression[at : number.start])
        text = number.text
        if operand is not None:
            text += "%" if operand.is_percent and not number.is_percent else ""
            before = expression[: number.start].rstrip()
            has_minus = before.endswith("-") and before[:-1].rstrip()[-1:] in ("", *"+-*/(")
            if (operand.value or 0) < 0 and not has_minus:
                text = f"(-{text})"
        parts.append(text)
        at = number.end
    return "".join([*parts, expression[at:]])


CALCULATOR = Tool("calculator", CalculatorArguments, calculator)
