"""OfflineJudge: an answer is grounded where every statement has a span that supports it."""

from __future__ import annotations

from collections.abc import Sequence

from helix.answering.proof import Proof, prove
from helix.domain.citations import is_refusal, marker_numbers
from helix.domain.context import Source
from helix.domain.contract import Verdict
from helix.language.terms import terms

ENOUGH = 1 / 3
"""Share of the question's terms that an answer, or what it cites, has to have to be about it."""


class OfflineJudge:
    """Needs no model: deterministic, and as strict as ``helix.answering.proof`` is.

    ``cited_ids`` are the chunk ids that markers name, in order of first use. Citations are correct
    where each marker names a source and supports a statement of its own. A refusal is grounded and
    relevant: whether it was right to refuse is not for this judge, who sees the sources only.
    """

    identity = "offline"

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Verdict:
        """The verdict; a few milliseconds, and raises nothing."""
        if is_refusal(answer):
            return Verdict(
                grounded=True, unsupported_claims=[], cited_ids=[],
                citations_correct=True, relevant=True,
            )  # fmt: skip
        proof = prove(answer, sources)
        unsupported = [answer[s.start : s.end] for s in proof.statements if s.problem is not None]
        numbers = marker_numbers(answer)
        cited = [sources[n - 1] for n in numbers if 1 <= n <= len(sources)]
        return Verdict(
            grounded=bool(proof.statements) and not unsupported,
            unsupported_claims=unsupported,
            cited_ids=[source.chunk_id for source in cited],
            citations_correct=_all_support(proof, numbers),
            relevant=_is_about(question, answer, cited),
        )


def _all_support(proof: Proof, numbers: Sequence[int]) -> bool:
    """True if there are citations, and each of them supports every statement that it marks."""
    for statement in proof.statements:
        supporting = {support.n for support in statement.supports}
        if not set(statement.numbers) <= supporting:
            return False
    return bool(numbers)


def _is_about(question: str, answer: str, cited: Sequence[Source]) -> bool:
    """True if the answer and its cited sources have a third of the question's terms."""
    asked = set(terms(question))
    said = set(terms(answer)).union(*(terms(f"{s.title} {s.content}") for s in cited))
    return len(asked & said) >= ENOUGH * len(asked)
