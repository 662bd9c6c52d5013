"""The contents of a receipt, made of a finished answer. Pure.

A document's words are in it only where the answer has them: in the answer, its citations and the
spans that support its statements. The rest of the prompt is there by reference: ids, spans, hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from helix import __version__
from helix.answering.answer import Answer
from helix.domain.context import Source
from helix.domain.history import Turn, follows
from helix.domain.prompt import user_turn
from helix.domain.records import Hit
from helix.domain.retrieval import Fusion, SearchSpace
from helix.settings import Settings

Json = dict[str, Any]
_WITHHELD = {"off": False, "answer": True, "sentence": "sentence"}
"""HELIX_WITHHOLD as receipts have it since it was true or false."""


@dataclass(frozen=True)
class Configuration:
    """The models and settings that a process answers with, as its receipts record them.

    ``models`` are llm, reranker and judge by their identity, None where there is none; the embedder
    is that of the space an answer was found in. ``settings`` are those that change answers, by the
    name of their variable.
    """

    models: Mapping[str, str | None]
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, settings: Settings, *, llm: str, reranker: str | None, judge: str) -> Configuration:
        """The configuration of a process with ``settings`` and models of these identities."""
        return cls(
            {"llm": llm, "reranker": reranker, "judge": judge},
            {
                "version": __version__,
                "RETRIEVAL_TOP_K": settings.retrieval_top_k,
                "HELIX_RETRIEVAL": settings.retrieval,
                "HELIX_GATE": settings.gate,
                "HELIX_GATE_LEXICAL": settings.gate_lexical,
                "HELIX_REWRITE": settings.rewrite,
                "HELIX_RERANK_MIN_SCORE": settings.rerank_min_score,
                "HELIX_EF_SEARCH": settings.ef_search,
                "HELIX_ANSWER_FORM": settings.answer_form,
                "HELIX_GUARDS": sorted(settings.guards),
                "HELIX_WITHHOLD": _WITHHELD[settings.withhold],
            },
        )

    def models_in(self, space: SearchSpace, llm: str | None = None) -> dict[str, str | None]:
        """The models by their identity, the embedder of ``space`` first; ``llm``: that chosen."""
        chosen = {"llm": llm} if llm else {}
        return {"embedder": space.embedder, **self.models, **chosen}


def _unusual(fusion: Fusion | None) -> dict[str, int]:
    """The numbers of ``fusion`` that are not the usual ones: receipts of before have none."""
    if fusion is None:
        return {}
    usual = Fusion()
    numbers = {
        "K_VEC": (fusion.near, usual.near), "K_FTS": (fusion.by_words, usual.by_words),
        "RRF_K": (fusion.rrf_k, usual.rrf_k),
    }  # fmt: skip
    return {name: now for name, (now, before) in numbers.items() if now != before}


def receipt_of(answer: Answer, configuration: Configuration) -> Json:
    """The receipt of ``answer`` but for its id, time, question and feedback."""
    gate, space = answer.debug["gate"], answer.retrieval.space
    weight = space.fusion.dense_weight if space.fusion else None
    settings = {
        **configuration.settings,
        "HELIX_FUSION": "rrf" if space.fusion and weight is None else weight,
        "RETRIEVAL_MAX_DISTANCE": gate["ceiling"],
        **_unusual(space.fusion),
    }
    if gate.get("least") is not None:
        settings["the gate's fit"] = gate["least"]
    return {
        "trace_id": answer.question.trace_id,
        "scope": answer.question.scope.to_json(),
        "top_k": answer.question.top_k,
        "answer": answer.text,
        "answer_sha256": digest(answer.text),
        "abstained": answer.abstained,
        "reason": answer.reason,
        "clarifying_question": answer.clarifying_question,
        "citations": answer.citations,
        "support": answer.proof.to_json(),
        "verdict": answer.verdict_json(),
        "judged": answer.judged,
        "flags": [asdict(flag) for flag in answer.flags],
        "prompt_sha256": None if answer.prompt is None else digest(answer.prompt),
        "prompts": [use.to_json() for _, use in sorted(answer.prompts.used.items())],
        "models": configuration.models_in(space, answer.llm.identity if answer.llm else None),
        "model": answer.model_json,
        "settings": settings,
        "index": {
            "sources": [_source_json(n, s) for n, s in enumerate(answer.retrieval.sources, 1)]
        },
        "debug": answer.debug,
        "agent": answer.agent_json,
        "mode": answer.question.mode,
        "cite": "proof" if answer.marked else "model",
        "turn": _turn_json(answer.turn),
    }


def _turn_json(turn: Turn | None) -> Json | None:
    """The question's turn in its conversation, without a word of that; None outside of one."""
    if turn is None:
        return None
    return {"type": turn.kind, "history_sha256": digest(turn.memory.text)}


def documents_of(answer: Answer) -> list[int]:
    """The ids of the documents whose words are in the answer or in the question back.

    An answer that follows others may have words of theirs.
    """
    hits: Iterable[Hit] = []
    if answer.retrieval.reason is None:
        hits = (hit for source in answer.retrieval.sources for hit in source.hits)
    elif answer.clarifying_question:
        hits = answer.retrieval.hits
    # what was put to a conversation goes with that, and is no document of the library
    own = {hit.document_id for hit in hits if not (hit.attached or hit.tool)}
    history = answer.question.history if follows(answer.turn_json) else None
    return sorted(own | (history.documents if history else set()))


def _source_json(n: int, source: Source) -> Json:
    """A source by reference; ``sha256`` of its text tells whether it is still the same.

    A tool's result is nowhere stored, and kept itself, as ``tool``.
    """
    chunk_id, document_id = source.hit.stored_ids
    tool = source.tool
    return {
        "n": n,
        "chunk_id": chunk_id,
        "chunk_ids": source.chunk_ids,
        "document_id": document_id,
        "start": None if tool else source.start_char,
        "end": None if tool else source.end_char,
        "sha256": digest(source.content),
        **({"tool": tool.to_json()} if tool else {}),
    }


def prompt_digest(question: str, sources: Iterable[Source]) -> str:
    """SHA-256, in hex, of the user's turn of a prompt."""
    return digest(user_turn(question, list(sources)))


def digest(text: str) -> str:
    """SHA-256 of ``text`` in hex; lone surrogates count as the bytes UTF-8 would give them."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
