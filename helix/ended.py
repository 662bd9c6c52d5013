"""An answer that has ended: its citations, the spans its statements rest on, what the guards say.

No HTTP and no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypedDict

from helix.citations import cite
from helix.clarifying import clarifying_question
from helix.context import Source
from helix.contract import REFUSAL, Citation, Verdict
from helix.debug import debug_block
from helix.guardrails import Flag
from helix.pointing import pointed
from helix.proof import Proof, prove
from helix.query_engine import AnswerStream
from helix.records import Hit
from helix.retrieval import Reason, Retrieval
from helix.scope import Scope

NOTHING_TO_PROVE = Proof(())


class LongCitation(TypedDict):
    """One source that an answer cites.

    ``quote`` is ``documents.text[start:end]``, in characters: the first span, inside the chunk,
    that a statement citing the source rests on. All three are None where no statement does.
    """

    n: int
    chunk_id: int
    document_id: int
    title: str
    heading_path: list[str]
    page: int | None
    snippet: str
    quote: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Asked:
    """What was asked, of what and under which ids; ``top_k`` of None is the retriever's own."""

    question: str
    scope: Scope
    top_k: int | None
    answer_id: str
    trace_id: str


@dataclass(frozen=True)
class Ended:
    """An answer with all that is known of it.

    ``answer`` is what its reader was given; ``reason`` is why it is a refusal, None for an answer.
    ``verdict`` is None where no judge was asked, there was nothing to judge, or it failed.
    ``prompt`` is the user's turn that the model was sent, None where it was not asked.
    ``removed`` counts what hygiene took out. ``seconds`` is from the question to the end of the
    answer; stages are in ``retrieval.trace``.
    """

    asked: Asked
    retrieval: Retrieval
    answer: str
    reason: Reason | None
    citations: list[LongCitation]
    proof: Proof
    clarifying_question: str | None
    debug: dict[str, Any]
    prompt: str | None = None
    flags: list[Flag] = field(default_factory=list)
    removed: int = 0
    seconds: float = 0.0
    verdict: Verdict | None = None
    judged: bool = False

    @property
    def abstained(self) -> bool:
        """Whether it is a refusal."""
        return self.reason is not None

    @property
    def short_citations(self) -> list[Citation]:
        """As GET /ask has them."""
        return [
            Citation(
                n=one["n"],
                chunk_id=one["chunk_id"],
                document_title=one["title"],
                snippet=one["snippet"],
            )
            for one in self.citations
        ]

    def support(self) -> dict[str, Any]:
        """What each statement rests on, as JSON."""
        return self.proof.to_json()

    def verdict_json(self) -> dict[str, Any] | None:
        """The verdict as the contract has it."""
        return self.verdict.model_dump() if self.verdict else None

    def withheld(self) -> Ended:
        """The refusal in its place: nothing that the model said is left."""
        verdict = self.verdict and self.verdict.model_copy(update={"unsupported_claims": []})
        return replace(
            self,
            verdict=verdict,
            answer=REFUSAL,
            reason="ungrounded",
            citations=[],
            proof=NOTHING_TO_PROVE,
            clarifying_question=None,
        )


def ended(
    stream: AnswerStream, asked: Asked, ceiling: float, flags: list[Flag], seconds: float
) -> Ended:
    """What ``stream``, which has ended, came to; ``ceiling`` is the gate's, as a distance.

    ``seconds`` is how long it took since the question came.
    """
    retrieval, reason = stream.retrieval, stream.reason
    answer = REFUSAL if reason else stream.answer
    proof = NOTHING_TO_PROVE if reason else prove(answer, retrieval.sources)
    debug = debug_block(retrieval, stream.answer, ceiling=ceiling, total=seconds)
    return Ended(
        asked,
        retrieval,
        answer,
        reason,
        [] if reason else long_citations(answer, retrieval.sources, proof),
        proof,
        clarifying_question(retrieval, reason, ceiling),
        debug | {"flags": [asdict(flag) for flag in flags], "removed": stream.removed},
        stream.prompt,
        flags,
        stream.removed,
        seconds,
    )


def long_citations(
    answer: str, sources: Sequence[Source], proof: Proof | None = None
) -> list[LongCitation]:
    """The citations of ``answer``, which cites ``sources`` by their numbers from 1.

    ``proof`` is that of the answer, made here if it is not at hand.
    """
    proof = prove(answer, sources) if proof is None else proof
    hits = _cited(answer, sources, proof)
    found: list[LongCitation] = []
    for citation in cite(answer, hits):
        hit, support = hits[citation["n"] - 1], proof.support_of(citation["n"])
        found.append(
            LongCitation(
                n=citation["n"],
                chunk_id=hit.chunk_id,
                document_id=hit.document_id,
                title=hit.title,
                heading_path=list(hit.heading_path),
                page=hit.page,
                snippet=citation["snippet"],
                quote=support.quote if support else None,
                start=support.start if support else None,
                end=support.end if support else None,
            )
        )
    return found


def _cited(answer: str, sources: Sequence[Source], proof: Proof) -> list[Hit]:
    """By its number, from 1: the chunk of each source that has the span, else the closest."""
    hits = pointed(answer, sources)
    for place, source in enumerate(sources):
        support = proof.support_of(place + 1) if len(source.hits) > 1 else None
        of_span = [hit for hit in source.hits if support and hit.chunk_id == support.chunk_id]
        hits[place] = of_span[0] if of_span else hits[place]
    return hits
