"""An answer as a value: its text, citations, proof of its statements, and findings of guards.

No HTTP and no database.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypedDict

from helix.answering.answerers import model_json
from helix.answering.code.links import CodeName, without_code
from helix.answering.guardrails import Flag
from helix.answering.history_support import from_history
from helix.answering.proof import Proof, Support, prove, with_marks, with_relevance
from helix.answering.question import Question, clarifying_question, question_back
from helix.answering.refusal import Passage, closest_passages, reason_text
from helix.answering.stream import AnswerStream
from helix.domain.citations import MARKER, attribute_citations, cited_numbers, snippet
from helix.domain.context import Source
from helix.domain.contract import LONGEST_SNIPPET_CHARS, REFUSAL, SNIPPET_CHARS, Citation, Verdict
from helix.domain.history import Turn
from helix.domain.question_analysis import is_summary
from helix.domain.records import Hit
from helix.domain.retrieval import Reason, Retrieval, debug_block
from helix.domain.tool_results import SourceKind
from helix.domain.usage import Usage
from helix.providers.base import LanguageModel
from helix.settings.prompts import Prompts

NOTHING_TO_PROVE = Proof(())
CitedBy = Literal["model", "helix"]


class LongCitation(TypedDict):
    """One source that an answer cites.

    ``quote`` is ``documents.text[start:end]``, in characters: the first span, inside the chunk,
    that a statement citing the source rests on. All three are None where no statement does.
    ``snippet`` is a piece of the chunk that begins with the quote, or else with the chunk.
    ``kind`` is that of the source: of a tool's result ids and offsets are None.
    ``by``: the model's marker cites it, or Helix found that it bears out a statement without
    one, or has the words of a statement that cites another.
    ``source_url`` is the address of a page of the web that the document is; None of any other.
    ``version_id`` is the SHA-256 of the source that the document was read from.
    """

    n: int
    kind: SourceKind
    chunk_id: int | None
    document_id: int | None
    title: str
    heading_path: list[str]
    page: int | None
    label: str
    snippet: str
    quote: str | None
    start: int | None
    end: int | None
    by: CitedBy
    source_url: str | None
    version_id: str | None


@dataclass(frozen=True)
class Answer:
    """A whole answer, or a refusal, with its citations, proof and circumstances.

    Args:
        text: the text for the reader.
        reason: why it is a refusal; None for an answer.
        debug: the ``debug`` block of POST /v1/query.
        prompt: the user turn that the model got; None where no model was called.
        removed: the number of links and images that the hygiene guard removed.
        left_out: the number of statements that were left out because no source bears them out;
            None where none would be.
        dropped: the number of removed markers without a source, in an agent's answer.
        seconds: from the question to the end of the text; ``retrieval.trace`` has the stages.
        verdict: the judge's; None where no judge was asked, or it failed.
        judged: whether a judge was asked.
        turn: the question's place in its conversation; None outside of one.
        prompts: the prompts of the answer, with a record of those used.
        llm: the model that was chosen to answer; None where the pipeline was not asked.
        usages: the usage of each call of the model, those of a gathering first.
        names: the names in the code of an answer of mode ``write``; None of any other.
        marked: whether the text has markers of Helix's own (``Question.marks``).
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
    left_out: int | None = None
    llm: LanguageModel | None = None
    usages: tuple[Usage, ...] = ()
    names: list[CodeName] | None = None
    marked: bool = False

    @property
    def model_json(self) -> dict[str, Any] | None:
        """The ``model`` of its JSON: which one answered; None where none was called."""
        is_fixed = self.retrieval.is_reply and not self.question.images
        called = self.usages or not (self.retrieval.reason or is_fixed)
        return model_json(self.llm, self.usages) if self.llm and called else None

    @property
    def writing_json(self) -> dict[str, Any]:
        """The keys of its JSON that an answer of mode ``write`` has beside others."""
        if self.question.mode != "write":
            return {}
        names = None if self.names is None else [one.to_json() for one in self.names]
        return {"mode": "write", "names": names}

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
        """True if the answer is a refusal."""
        return self.reason is not None

    @property
    def reason_text(self) -> str | None:
        """The reason of a refusal as one sentence; None for an answer."""
        moment = self.question.scope.as_of
        return reason_text(self.question.text, self.retrieval, self.reason, moment)

    @cached_property
    def closest(self) -> list[Passage] | None:
        """The passages that came closest, where it is a refusal; some 10 ms the first time."""
        return closest_passages(self.question.text, self.retrieval, self.reason)

    @property
    def short_citations(self) -> list[Citation]:
        """The citations with the four keys of GET /ask; a snippet begins with its chunk.

        It ends with the quote where that lies at the beginning of the chunk. A tool's result has no
        chunk, and is left out.
        """
        contents = {hit.chunk_id: hit for source in self.retrieval.sources for hit in source.hits}
        return [
            Citation(
                n=citation["n"],
                chunk_id=chunk_id,
                document_title=citation["title"],
                snippet=short_snippet(contents[chunk_id], citation["end"]),
            )
            for citation in self.citations
            if (chunk_id := citation["chunk_id"]) is not None
        ]

    @property
    def cited_documents(self) -> list[int]:
        """The ids of the documents that are cited, in order, each once."""
        ids = (citation["document_id"] for citation in self.citations)
        return list(dict.fromkeys(number for number in ids if number is not None))

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
            names=None,
        )


def answer_of(
    stream: AnswerStream,
    question: Question,
    flags: list[Flag],
    seconds: float,
    *,
    by_proof: bool = False,
) -> Answer:
    """The answer of ``stream``, which was read to its end ``seconds`` after the question.

    ``by_proof``: statements without a marker are cited to the source that bears them out, if any.

    A question that the model got in another wording stands in the answer in that wording.
    """
    written = question.text
    if stream.asked is not None:
        question = replace(question, text=stream.asked)
    retrieval, reason = stream.retrieval, stream.reason
    text = REFUSAL if reason else stream.answer
    prose = without_code(text) if retrieval.writing else text
    proof, marks = NOTHING_TO_PROVE, stream.statements.marks if stream.statements else []
    if reason is None and not retrieval.is_reply:
        proof = _proof_of(prose, text, question.text, retrieval, marks, looks_up=by_proof)
    debug = debug_block(retrieval, stream.answer, seconds)
    left_out = stream.left_out
    debug |= {} if left_out is None else {"left_out": left_out}
    return Answer(
        question,
        retrieval,
        text,
        reason,
        [] if reason else long_citations(prose, retrieval.sources, proof, marks),
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
        left_out=left_out,
        llm=stream.llm,
        usages=stream.usages,
        names=_names(text, retrieval) if retrieval.writing and not reason else None,
        marked=bool(stream.statements and stream.statements.cites),
    )


def _proof_of(
    prose: str,
    text: str,
    question: str,
    retrieval: Retrieval,
    marks: Collection[int],
    *,
    looks_up: bool,
) -> Proof:
    """The proof of ``prose``, the part of ``text`` that is no code, with how likely it answers."""
    sources = retrieval.sources
    proof = prove(
        prose,
        sources,
        calculations=retrieval.calculations,
        question=question,
        looks_up=looks_up,
    ).with_marks_of_ours(prose, marks)
    proof = with_relevance(proof, question, prose, sources)
    if is_summary(question):  # which every sentence of a document may be part of
        return proof
    return with_marks(proof, question, text, sources)


def _names(text: str, retrieval: Retrieval) -> list[CodeName]:
    from helix.answering.code.links import linked_names  # Pygments, for who writes code alone

    return linked_names(text, retrieval.sources)


def long_citations(
    answer: str,
    sources: Sequence[Source],
    proof: Proof | None = None,
    marks: Collection[int] = (),
) -> list[LongCitation]:
    """The citations of ``answer``, whose markers number ``sources`` from 1.

    Those that Helix found come after those of the markers. ``proof`` is the proof of ``answer``,
    made here if it is not given. ``marks``: the offsets of the markers that Helix put there.
    """
    proof = prove(answer, sources) if proof is None else proof
    hits = _cited_hits(answer, sources, proof)
    own = {
        int(n)
        for marker in MARKER.finditer(answer)
        if marker.start() not in marks
        for n in marker[1].split(",")
    }
    numbers: dict[int, CitedBy] = {
        n: "model" if n in own else "helix" for n in cited_numbers(answer, hits)
    }
    for n in proof.found:
        numbers.setdefault(n, "helix")
    return [_citation(n, hits[n - 1], proof.support_of(n), by) for n, by in numbers.items()]


def _citation(n: int, hit: Hit, support: Support | None, by: CitedBy) -> LongCitation:
    chunk_id, document_id = hit.stored_ids
    return LongCitation(
        n=n,
        kind=hit.kind,
        chunk_id=chunk_id,
        document_id=document_id,
        title=hit.title,
        heading_path=list(hit.heading_path),
        page=hit.page,
        label=hit.label,
        snippet=_snippet_at(hit, support) if support else snippet(hit.content),
        quote=support.quote if support else None,
        start=support.start if support and not support.of_tool else None,
        end=support.end if support and not support.of_tool else None,
        by=by,
        source_url=hit.source_url,
        version_id=hit.version_id,
    )


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
