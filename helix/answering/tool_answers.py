"""The answer where tools alone had a result, and the model refuses: the results as they are."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from helix.answering.proof.results import result_problem
from helix.domain.citations import is_refusal
from helix.domain.context import Source
from helix.domain.contract import REFUSAL
from helix.domain.question_analysis import read_question
from helix.domain.relevance import irrelevance


def results_told(question: str, sources: Sequence[Source]) -> str:
    """The results among ``sources`` that bear on the question, each with its marker; may be empty.

    A calculation does where it is one of the question's own numbers.
    """
    asked = read_question(question)
    lines = []
    for n, source in enumerate(sources, 1):
        tool = source.tool
        if tool is None:
            return ""
        if tool.kind == "calculation":
            bears = result_problem(tool.equation, tool, question) is None
        else:
            bears = irrelevance(asked, tool.text, tool.text, source.place, frozenset()) is None
        lines += [f"{tool.equation} [{n}]."] if bears else []
    return "\n".join(lines)


async def or_results(deltas: AsyncGenerator[str, None], results: str) -> AsyncGenerator[str, None]:
    """``deltas``, or ``results`` where they are the refusal: small models refuse what is no prose.

    What may still become the refusal is held back.
    """
    held: str | None = ""
    async with aclosing(deltas):
        async for delta in deltas:
            if held is None:
                yield delta
                continue
            held += delta
            if not _may_refuse(held):
                yield held
                held = None
    if held is not None:
        yield results if is_refusal(held) else held


def _may_refuse(text: str) -> bool:
    begun = text.lstrip(" \n\"'*_")
    return len(begun) < len(REFUSAL) + 40 and begun[:12] == REFUSAL[: len(begun[:12])]
