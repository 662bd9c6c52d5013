"""Questions asked of stored documents with and without the agent, and what came of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from evals.documents.values import numbers
from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Mode, Question
from helix.domain.scope import Scope
from helix.services import Services

_RESULT = re.compile(
    r"=\s*(?P<sign>[-−]?)(?P<digits>\d[\d,]*(?:\.\d+)?)\s*"
    r"(?P<scale>%|thousand|million|billion|trillion)?"
)
_HALF = Decimal("0.005001")
"""The set's answers are rounded to two decimals."""


@dataclass(frozen=True)
class Expected:
    """The number that a question asks for: in ``scale``, which is "percent", "million" or ''."""

    value: Decimal
    scale: str


async def ask(
    services: Services, question: str, scope: Scope, mode: Mode, top_k: int | None = None
) -> Answer:
    """The finished answer, which leaves no receipt; raises HelixError as AnswerRequest does."""
    request = Question(question, scope, top_k, mode=mode)
    return await AnswerRequest(services.answering, request, recorded=False).run()


def states_number(answer: Answer, expected: Expected) -> bool:
    """True where an answer says the number: as the result of a calculation, or else anywhere.

    A result has to have its sign and scale, a number that is quoted only its digits and, where it
    has one, its scale: which favours the answer without the agent.
    """
    if answer.abstained:
        return False
    if results := list(_RESULT.finditer(answer.text)):
        return any(_is(match, expected) for match in results)
    return any(
        abs(Decimal(str(one.value)) - abs(expected.value)) <= _HALF
        and one.scale.replace("%", "percent") in ("", expected.scale)
        for one in numbers(answer.text)
    )


def _is(match: re.Match[str], expected: Expected) -> bool:
    try:
        value = Decimal(match["digits"].replace(",", ""))
    except InvalidOperation:
        return False
    value = -value if match["sign"] else value
    scale = (match["scale"] or "").replace("%", "percent")
    if scale == expected.scale or "percent" not in (scale, expected.scale):
        return abs(value - expected.value) <= _HALF
    factor = 100 if scale == "percent" else Decimal("0.01")
    return abs(value / factor - expected.value) <= _HALF


def is_proved(answer: Answer) -> bool:
    """True where every statement of an answer is proved."""
    statements = answer.proof.statements
    return bool(statements) and all(one.problem is None for one in statements)


def faults(answer: Answer) -> Iterable[str]:
    """Faults that no answer may have: a marker without a source, a quote that no document has."""
    sources = answer.retrieval.sources
    for statement in answer.proof.statements:
        if any(not 1 <= number <= len(sources) for number in statement.numbers):
            yield "a marker that no source has"
        for support in statement.supports:
            hits = [hit for hit in sources[support.n - 1].hits if hit.chunk_id == support.chunk_id]
            at = hits[0].start_char or 0 if hits else 0
            span = slice(support.start - at, support.end - at)
            if not hits or hits[0].content[span] != support.quote:
                yield "a quote that its source does not have"
