"""What a receipt says, made of an answer that has ended. Pure.

A document's words are in it only where the answer has them: the answer itself, what it cites, what
its statements rest on. The rest of the prompt is there by reference: chunk ids, spans and hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from helix import __version__
from helix.context import Source
from helix.ended import Ended
from helix.prompt import user_turn
from helix.records import Hit
from helix.scope import Scope
from helix.settings import Settings

Json = dict[str, Any]


@dataclass(frozen=True)
class Marks:
    """What a process answers with, as receipts keep it.

    ``models``: embedder, llm, reranker and judge by their identity; None where there is none.
    ``settings``: those that change answers, by the name of their variable.
    """

    models: Mapping[str, str | None]
    settings: Mapping[str, Any]


def settings_of(settings: Settings, dense_weight: float | str | None) -> Json:
    """The settings that change answers; ``dense_weight`` is HELIX_FUSION as it turned out."""
    return {
        "version": __version__,
        "RETRIEVAL_TOP_K": settings.retrieval_top_k,
        "HELIX_RETRIEVAL": settings.retrieval,
        "HELIX_FUSION": dense_weight,
        "HELIX_GATE": settings.gate,
        "HELIX_GATE_LEXICAL": settings.gate_lexical,
        "HELIX_REWRITE": settings.rewrite,
        "HELIX_RERANK_MIN_SCORE": settings.rerank_min_score,
        "HELIX_EF_SEARCH": settings.ef_search,
        "HELIX_GUARDS": sorted(settings.guards),
        "HELIX_WITHHOLD": settings.withhold,
    }


def receipt_of(ended: Ended, marks: Marks) -> Json:
    """The receipt of ``ended`` but for its id, time, question and feedback."""
    sources = ended.retrieval.sources
    gate = ended.debug["gate"]
    settings = {**marks.settings, "RETRIEVAL_MAX_DISTANCE": gate["ceiling"]}
    if gate.get("least") is not None:
        settings["the gate's fit"] = gate["least"]
    return {
        "trace_id": ended.asked.trace_id,
        "scope": scope_json(ended.asked.scope),
        "top_k": ended.asked.top_k,
        "answer": ended.answer,
        "answer_sha256": digest(ended.answer),
        "abstained": ended.abstained,
        "reason": ended.reason,
        "clarifying_question": ended.clarifying_question,
        "citations": ended.citations,
        "support": ended.support(),
        "verdict": ended.verdict_json(),
        "judged": ended.judged,
        "flags": [asdict(flag) for flag in ended.flags],
        "prompt_sha256": None if ended.prompt is None else digest(ended.prompt),
        "models": dict(marks.models),
        "settings": settings,
        "index": {"sources": [source_json(n, source) for n, source in enumerate(sources, 1)]},
        "debug": ended.debug,
    }


def asked_model(ended: Ended) -> bool:
    """Whether there was a prompt: what retrieval refused has none."""
    return ended.retrieval.reason is None


def documents_of(ended: Ended) -> list[int]:
    """The documents that the words of an answer, or of the question back, are from."""
    hits: Iterable[Hit] = []
    if asked_model(ended):
        hits = (hit for source in ended.retrieval.sources for hit in source.hits)
    elif ended.clarifying_question:
        hits = ended.retrieval.hits
    return sorted({hit.document_id for hit in hits})


def source_json(n: int, source: Source) -> Json:
    """A source by reference. ``sha256`` is of its text, which says whether it is still the same."""
    return {
        "n": n,
        "chunk_id": source.chunk_id,
        "chunk_ids": [hit.chunk_id for hit in source.hits],
        "document_id": source.document_id,
        "start": source.start_char,
        "end": source.end_char,
        "sha256": digest(source.content),
    }


def scope_json(scope: Scope) -> Json:
    """The filters of a scope; times as RFC 3339 has them."""
    return {
        "document_ids": None if scope.document_ids is None else list(scope.document_ids),
        "source_prefix": scope.source_prefix,
        "tags": None if scope.tags is None else list(scope.tags),
        "since": scope.since.isoformat() if scope.since else None,
        "until": scope.until.isoformat() if scope.until else None,
    }


def prompt_digest(question: str, sources: Iterable[Source]) -> str:
    """SHA-256, in hex, of the user's turn of a prompt."""
    return digest(user_turn(question, list(sources)))


def digest(text: str) -> str:
    """SHA-256 of ``text`` in hex; lone surrogates count as the bytes UTF-8 would give them."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
