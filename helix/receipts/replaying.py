"""Replay: ask a receipt's question again, and say what differs from then and why."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from helix.answering import Answering, Ended, Inquiry
from helix.context import Source
from helix.gate import GateDecision
from helix.library.access import Library
from helix.receipts.prompts import Rebuilt, rebuilt
from helix.receipts.receipt import (
    Json,
    Marks,
    asked_model,
    digest,
    receipt_of,
    source_json,
)
from helix.retrieval import Retrieval, Trace
from helix.scope import Scope

_COMPARED = ("n", "chunk_id", "document_id", "start", "end", "quote")
_CHANGED_MODELS = {
    "embedder": "embedder changed", "llm": "model changed", "reranker": "reranker changed",
    "judge": "judge changed",
}  # fmt: skip


@dataclass(frozen=True)
class Cause:
    """What is not as it was. ``kind`` is "index changed", "model changed", "embedder changed",
    "reranker changed", "judge changed", "settings changed", "release changed" or "model varies";
    ``told`` says what of it, for people."""

    kind: str
    told: str


@dataclass(frozen=True)
class Replay:
    """What came of it. ``then`` and ``now`` have answer, reason and citations.

    ``identical``: text, reason and citations are the same. ``causes`` are all that changed, which
    may be something without there being a difference. ``same_from_old_prompt`` says whether the
    model still gives the old answer to the old prompt; None where that was not asked.
    """

    answer_id: str
    then: Json
    now: Json
    identical: bool
    causes: list[Cause] = field(default_factory=list)
    same_from_old_prompt: bool | None = None

    def diff(self) -> list[str]:
        """The two answers with their citations as lines of a unified diff."""
        return list(
            difflib.unified_diff(_lines(self.then), _lines(self.now), "then", "now", lineterm="")
        )

    def to_json(self) -> Json:
        """All of it."""
        return {
            "answer_id": self.answer_id,
            "identical": self.identical,
            "causes": [{"kind": cause.kind, "told": cause.told} for cause in self.causes],
            "same_from_old_prompt": self.same_from_old_prompt,
            "then": self.then,
            "now": self.now,
        }


async def replayed(
    answering: Answering, library: Library, receipt: Mapping[str, Any], marks: Marks
) -> Replay:
    """Ask the question of ``receipt`` (read_receipt) again, of what is stored now.

    Nothing is kept of the new answer. ``marks`` are those of this process.

    Raises:
        UpstreamError, StoreUnavailable, EmbedderMismatch, SourceChanged: as an answer does.
    """
    old = await rebuilt(library, receipt)
    done = await _asked_again(answering, receipt, library.tenant)
    then, now = _compared(receipt), _compared(receipt_of(done, marks))
    identical = _same(then, now) and digest(done.answer) == receipt["answer_sha256"]
    again = None
    if not identical and old.lost is None and _prompt_differs(receipt, done):
        again = await _same_from(answering, receipt, old.sources)
    causes = _causes(receipt, done, marks, old)
    if not identical and not causes:
        causes = [Cause("model varies", "the model answers the same prompt in another way")]
    return Replay(receipt["answer_id"], then, now, identical, causes, again)


_TIMES = ("since", "until")


def scope_of(receipt: Mapping[str, Any], tenant: str) -> Scope:
    """What the question of a receipt was asked of."""
    scope = receipt["scope"]
    since, until = (scope[name] and datetime.fromisoformat(scope[name]) for name in _TIMES)
    ids, tags = scope["document_ids"], scope["tags"]
    return Scope(
        tenant,
        None if ids is None else tuple(ids),
        scope["source_prefix"],
        None if tags is None else tuple(tags),
        since,
        until,
    )


async def _asked_again(answering: Answering, receipt: Mapping[str, Any], tenant: str) -> Ended:
    scope = scope_of(receipt, tenant)
    inquiry = Inquiry(answering, receipt["question"], scope, receipt["top_k"], kept=False)
    async with aclosing(await inquiry.begin()) as stream:
        async for _ in stream:
            continue
    done = await inquiry.end(stream)
    if receipt["reason"] == "ungrounded":  # only what was withheld then can be now
        done = await inquiry.finish(done, withhold=answering.withhold)
    return done


async def _same_from(
    answering: Answering, receipt: Mapping[str, Any], sources: list[Source]
) -> bool:
    """Whether the model gives the old answer to the old prompt."""
    retrieval = Retrieval([], GateDecision(True, None), Trace(), sources)
    stream = await answering.engine.answer_from(receipt["question"], retrieval)
    async with aclosing(stream):
        async for _ in stream:
            continue
    return bool(digest(stream.answer) == receipt["answer_sha256"])


def _compared(receipt: Mapping[str, Any]) -> Json:
    citations = [{key: one[key] for key in _COMPARED} for one in receipt["citations"]]
    return {"answer": receipt["answer"], "reason": receipt["reason"], "citations": citations}


def _same(then: Json, now: Json) -> bool:
    return bool(then["citations"] == now["citations"] and then["reason"] == now["reason"])


def _prompt_differs(receipt: Mapping[str, Any], done: Ended) -> bool:
    return done.prompt is None or bool(digest(done.prompt) != receipt["prompt_sha256"])


def _causes(receipt: Mapping[str, Any], done: Ended, marks: Marks, old: Rebuilt) -> list[Cause]:
    settings = receipt_of(done, marks)["settings"]
    causes = [
        *_changed_settings(receipt["settings"], settings),
        *_changed_models(receipt, marks),
    ]
    if causes and not asked_model(done) and not any(map(_differs, old.states.values())):
        return causes  # the gate refuses what is stored as it was
    return causes + _changed_index(receipt, done, old)


def _differs(state: str) -> bool:
    return state != "same"


def _changed_settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[Cause]:
    return [
        Cause(
            "release changed" if name == "version" else "settings changed",
            f"{name}: {then.get(name)} -> {now.get(name)}",
        )
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]


def _changed_models(receipt: Mapping[str, Any], marks: Marks) -> list[Cause]:
    then = receipt["models"]
    return [
        Cause(kind, f"{name}: {then.get(name)} -> {marks.models.get(name)}")
        for name, kind in _CHANGED_MODELS.items()
        if then.get(name) != marks.models.get(name) and (name != "judge" or receipt["judged"])
    ]


def _changed_index(receipt: Mapping[str, Any], done: Ended, old: Rebuilt) -> list[Cause]:
    """Sources that are not what they were, and those that came and went."""
    before: Sequence[Json] = receipt["index"]["sources"]
    after = [source_json(n, source) for n, source in enumerate(done.retrieval.sources, 1)]
    told = [
        f"source [{mark['n']}] (chunk {mark['chunk_id']} of document {mark['document_id']}) was"
        f" {old.states[mark['n']].removeprefix('source ')}"
        for mark in before
        if old.states.get(mark["n"], "same") != "same"
    ]
    hashes = {mark["sha256"] for mark in before}
    told += [
        f"chunk {mark['chunk_id']} of document {mark['document_id']} is source [{mark['n']}] now,"
        f"{_distance(done, mark['chunk_id'])} and was none"
        for mark in after
        if mark["sha256"] not in hashes
    ]
    if before and not asked_model(done):  # then none of them is, for the gate's reason
        told = told or ["nothing that is stored passes the gate now"]
        return [Cause("index changed", each) for each in told]
    stays = {mark["sha256"] for mark in after}
    told += [
        f"source [{mark['n']}] (chunk {mark['chunk_id']} of document {mark['document_id']}) is"
        " still stored, and none now"
        for mark in before
        if mark["sha256"] not in stays and old.states.get(mark["n"]) == "same"
    ]
    if not told and before != after:
        told = ["the same sources in another order or under other ids"]
    return [Cause("index changed", each) for each in told]


def _distance(done: Ended, chunk_id: int) -> str:
    near = {row["chunk_id"]: row["distance"] for row in done.debug["candidates"]["near"]}
    distance = near.get(chunk_id)
    return "" if distance is None else f" at distance {distance:.4f},"


def _lines(said: Json) -> list[str]:
    answer = said["answer"]
    lines = ["(its words are gone with a document)"] if answer is None else answer.splitlines()
    lines += [f"reason: {said['reason']}"] if said["reason"] else []
    return lines + [
        f"[{one['n']}] chunk {one['chunk_id']} of document {one['document_id']},"
        f" {one['start']} to {one['end']}"
        for one in said["citations"]
    ]
