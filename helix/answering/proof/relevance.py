"""Relevance: whether each statement of an answer bears on the question, quoted rightly or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from helix.answering.proof.model import Proof, Statement
from helix.domain.citations import MARKER
from helix.domain.context import Source
from helix.domain.question_analysis import AskedQuestion, read_question
from helix.domain.relevance import companies_of, irrelevance


def with_relevance(proof: Proof, question: str, answer: str, sources: Sequence[Source]) -> Proof:
    """The proof of ``answer``, each statement with why it does not bear on the question, if so.

    ``sources`` are numbered from 1. What a statement leaves to its source (the company, the title)
    is looked for there.
    """
    asked = read_question(question)
    companies = companies_of(sources)
    statements = (
        replace(one, irrelevance=_irrelevance(one, asked, answer, sources, companies))
        for one in proof.statements
    )
    return replace(proof, statements=tuple(statements))


def _irrelevance(
    statement: Statement,
    asked: AskedQuestion,
    answer: str,
    sources: Sequence[Source],
    companies: frozenset[str],
) -> str | None:
    """The reason of the first source that it rests on; None where one of them bears on it."""
    numbers = {support.n for support in statement.supports} or set(statement.numbers)
    cited = [sources[n - 1] for n in sorted(numbers) if 1 <= n <= len(sources)]
    text = MARKER.sub(" ", answer[statement.start : statement.end])
    reasons = [irrelevance(asked, text, s.content, s.place, companies) for s in cited]
    return None if not reasons or None in reasons else reasons[0]
