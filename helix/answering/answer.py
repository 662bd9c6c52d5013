"""An answer as a value: its text, citations, proof of its statements, and findings of guards.

No HTTP and no database.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypedDict

from helix.answering.clarification import clarifying_question, question_back
from helix.answering.debug import debug_block
from helix.answering.from_history import from_history
from helix.answering.gathering import Mode
from helix.answering.guardrails import Flag
from helix.answering.images import UploadedImage
from helix.answering.proof import Proof, Support, prove, with_relevance
from helix.answering.refusal import Passage, closest_passages, reason_text
from helix.answering.stream import AnswerStream
from helix.contract import LONGEST_SNIPPET_CHARS, REFUSAL, SNIPPET_CHARS, Citation, Verdict
from helix.domain.attribution import attribute_citations
from helix.domain.citations import cite, snippet
from helix.domain.context import Source
from helix.domain.history import History
from helix.domain.records import Hit
from helix.domain.retrieval import Reason, Retrieval
from helix.domain.scope import Scope
from helix.domain.turns import Turn
from helix.prompts import Prompts
from helix.telemetry.tracing import request_trace_id

NOTHING_TO_PROVE = Proof(())


class LongCitation(TypedDict):
    """One source that an answer cites.

    ``quote`` is ``documents.text[start:end]``, in characters: the first span, inside the chunk,
    that a statement citing the source rests on. All three are None where no statement does.
    ``snippet`` is a piece of the chunk that begins with the quote, or else with the chunk.
    """

    n: int
    chunk_id: int
    document_id: int
    title: str
    heading_path: list[str]
    page: int | None
    label: str
    snippet: str
    quote: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Question:
    """One question: its text, the documents it may be answered from, and its answer's ids.

    ``top_k`` is the most chunks to answer from; None leaves that to the retriever. ``history`` is
    what came before in its conversation; None where it is asked outside of one. Both ids are 32
    hex characters; ``trace_id`` is the current request's, a random one outside of a request.
    ``mode`` says who gathers the sources; ``time_zone`` is the asker's, an IANA name. A question
    with ``images`` is about them alone: no document is searched.
    """

    text: str
    scope: Scope = field(default_factory=Scope)
    top_k: int | None = None
    history: History | None = None
    answer_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    trace_id: str = field(default_factory=lambda: request_trace_id() or secrets.token_hex(16))
    mode: Mode = "answer"
    time_zone: str = "UTC"
    images: tuple[UploadedImage, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A whole answer, or a refusal, with its citations, proof and circumstances.

    Args:
        text: the text for the reader.
        reason: why it is a refusal; None for an answer.
        debug: the ``debug`` block of POST /v1/query.
        prompt: the user turn that the model got; None where no model was called.
        removed: the number of links and images that the hygiene guard removed.
        dropped: the number of removed markers without a source, in an agent's answer.
        seconds: from the question to the end of the text; ``retrieval.trace`` has the stages.
        verdict: the judge's; None where no judge was asked, or it failed.
        judged: whether a judge was asked.
        turn: the question's place in its conversation; None outside of one.
        prompts: the prompts of the answer, with a record of those used.
    """

    question: Question
    retrieval: Retrieval
    text: str
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
    turn: Turn | None = None
    prompts: Prompts = field(default_factory=Prompts)
    dropped: int = 0

    @property
    def agent_json(self) -> dict[str, Any] | None:
        """The ``agent`` of its JSON: how its sources were gathered; None where by one search."""
        gathered = self.retrieval.gathered
        return gathered.to_json() | {"dropped": self.dropped} if gathered else None

    @property
    def turn_json(self) -> dict[str, Any] | None:
        """The ``turn`` of its JSON; None outside of a conversation."""
        history = self.question.history
        if self.turn is None or history is None:
            return None
        rests = from_history(self.text, self.proof, history)
        return self.turn.to_json() | {"from_history": rests}

    @property
    def abstained(self) -> bool:
        """Whether it is a refusal."""
        return self.reason is not None

    @property
    def reason_text(self) -> str | None:
        """The reason of a refusal as one sentence; None for an answer."""
        return reason_text(self.question.text, self.retrieval, self.reason)

    @property
    def closest(self) -> list[Passage] | None:
        """The passages that came closest, where it is a refusal."""
        return closest_passages(self.question.text, self.retrieval, self.reason)

    @property
    def short_citations(self) -> list[Citation]:
        """The citations with the four keys of GET /ask; a snippet begins with its chunk.

        It ends with the quote where that lies at the beginning of the chunk.
        """
        contents = {hit.chunk_id: hit for source in self.retrieval.sources for hit in source.hits}
        return [
            Citation(
                n=citation["n"],
                chunk_id=citation["chunk_id"],
                document_title=citation["title"],
                snippet=short_snippet(contents[citation["chunk_id"]], citation["end"]),
            )
            for citation in self.citations
        ]

    def verdict_json(self) -> dict[str, Any] | None:
        """The verdict with the keys of the contract."""
        return self.verdict.model_dump() if self.verdict else None

    def withheld(self) -> Answer:
        """The refusal in place of this answer: nothing that the model said is left in it."""
        verdict = self.verdict and self.verdict.model_copy(update={"unsupported_claims": []})
        return replace(
            self,
            verdict=verdict,
            text=REFUSAL,
            reason="ungrounded",
            citations=[],
            proof=NOTHING_TO_PROVE,
            clarifying_question=None,
        )


def answer_of(
    stream: AnswerStream, question: Question, flags: list[Flag], seconds: float
) -> Answer:
    """The answer of ``stream``, which was read to its end ``seconds`` after the question.

    A question that the model got in another wording stands in the answer in that wording.
    """
    written = question.text
    if stream.asked is not None:
        question = replace(question, text=stream.asked)
    retrieval, reason = stream.retrieval, stream.reason
    text = REFUSAL if reason else stream.answer
    proof = NOTHING_TO_PROVE
    if reason is None and not retrieval.is_reply:
        proof = with_relevance(
            prove(text, retrieval.sources, calculations=retrieval.calculations),
            question.text,
            text,
            retrieval.sources,
        )
    debug = debug_block(retrieval, stream.answer, seconds)
    return Answer(
        question,
        retrieval,
        text,
        reason,
        [] if reason else long_citations(text, retrieval.sources, proof),
        proof,
        question_back(written, retrieval, reason, stream.turn, question.history)
        or clarifying_question(question.text, retrieval, reason),
        debug | {"flags": [asdict(flag) for flag in flags], "removed": stream.removed},
        stream.prompt,
        flags,
        stream.removed,
        seconds,
        turn=stream.turn,
        prompts=stream.prompts,
        dropped=stream.dropped,
    )


def long_citations(
    answer: str, sources: Sequence[Source], proof: Proof | None = None
) -> list[LongCitation]:
    """The citations of ``answer``, whose markers number ``sources`` from 1.

    ``proof`` is the proof of ``answer``, made here if it is not given.
    """
    proof = prove(answer, sources) if proof is None else proof
    hits = _cited_hits(answer, sources, proof)
    citations: list[LongCitation] = []
    for citation in cite(answer, hits):
        hit, support = hits[citation["n"] - 1], proof.support_of(citation["n"])
        citations.append(
            LongCitation(
                n=citation["n"],
                chunk_id=hit.chunk_id,
                document_id=hit.document_id,
                title=hit.title,
                heading_path=list(hit.heading_path),
                page=hit.page,
                label=hit.label,
                snippet=_snippet_at(hit, support) if support else citation["snippet"],
                quote=support.quote if support else None,
                start=support.start if support else None,
                end=support.end if support else None,
            )
        )
    return citations


def _snippet_at(hit: Hit, support: Support) -> str:
    """The part of a chunk for the reader: the quote, and the text after it where it is short."""
    return snippet(hit.content, start=support.start - (hit.start_char or 0))


def short_snippet(hit: Hit, end: int | None) -> str:
    """The snippet of GET /ask: a chunk's beginning, up to ``end`` in its document where near."""
    reach = 0 if end is None else end - (hit.start_char or 0)
    return snippet(
        hit.content, max(reach, SNIPPET_CHARS) if reach <= LONGEST_SNIPPET_CHARS else SNIPPET_CHARS
    )


def _cited_hits(answer: str, sources: Sequence[Source], proof: Proof) -> list[Hit]:
    """The chunk that each source is cited by: the one with the supporting span, else the closest.

    A source may be several chunks that were joined.
    """
    hits = attribute_citations(answer, sources)
    for index, source in enumerate(sources):
        if len(source.hits) > 1 and (support := proof.support_of(index + 1)):
            supporting = (hit for hit in source.hits if hit.chunk_id == support.chunk_id)
            hits[index] = next(supporting, hits[index])
    return hits
