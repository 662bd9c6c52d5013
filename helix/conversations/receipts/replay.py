"""Replay: ask a receipt's question again, and say what differs from then and why."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Any

from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerPipeline, AnswerRequest
from helix.answering.question import Question, ReadQuestion
from helix.conversations.questions import Before, before_answer
from helix.conversations.receipts.receipt import Configuration, Json, digest, receipt_of
from helix.conversations.receipts.stored_sources import rebuild_prompt
from helix.domain.context import Source
from helix.domain.followups import FollowUp
from helix.domain.gate import GateDecision
from helix.domain.retrieval import Retrieval, Trace
from helix.domain.scope import MOMENT, Scope
from helix.library.access import Library
from helix.library.prompt_versions import PromptBook
from helix.settings.prompts import Prompts

_COMPARED = ("n", "chunk_id", "document_id", "start", "end", "quote")
_CHANGED_MODELS = {
    "embedder": "embedder changed", "llm": "model changed", "reranker": "reranker changed",
    "judge": "judge changed",
}  # fmt: skip

_GONE = {"llm": " (the first is not offered any more)"}
"""Of a model that a replay would have asked: HELIX_LLM and HELIX_MODELS have it no longer."""


@dataclass(frozen=True)
class Cause:
    """Something that is not as it was.

    ``kind`` is "index changed", "history changed", "model changed", "embedder changed", "reranker
    changed", "judge changed", "prompt changed", "settings changed", "release changed" or "model
    varies"; ``description`` is for a reader.
    """

    kind: str
    description: str


@dataclass(frozen=True)
class Replay:
    """The old answer beside the new one. ``then`` and ``now`` have answer, reason and citations.

    ``identical``: text, reason and citations are the same. ``causes`` are all that changed, which
    may be something even where the answers are the same. ``same_from_old_prompt`` is whether the
    model still gives the old answer to the old prompt; None where it was not asked that.
    """

    answer_id: str
    identical: bool
    causes: list[Cause]
    same_from_old_prompt: bool | None
    then: Json
    now: Json

    def diff(self) -> list[str]:
        """The two answers with their citations as lines of a unified diff."""
        return list(
            difflib.unified_diff(_lines(self.then), _lines(self.now), "then", "now", lineterm="")
        )

    def to_json(self) -> Json:
        """All of it, in the order of the fields."""
        return asdict(self)


async def replay(
    pipeline: AnswerPipeline,
    library: Library,
    receipt: Mapping[str, Any],
    configuration: Configuration,
    *,
    of_then: bool = False,
) -> Replay:
    """Ask the question of ``receipt`` (read_receipt) again, of the documents stored now.

    The new answer leaves no receipt. ``configuration`` is this process's. ``of_then``: it is asked
    of the library as it stood when it was answered.

    Raises:
        BadRequest: the library of then is not kept.
        UpstreamError, StoreUnavailable, EmbedderMismatch, SourceChanged: as an answer does.
    """
    if of_then:
        receipt = {**receipt, "scope": {MOMENT: receipt["created_at"]} | receipt["scope"]}
    before = await before_answer(library, receipt["answer_id"])
    prompt = await rebuild_prompt(library, receipt, before.attached if before else None)
    prompts = await PromptBook(library.store).at(library.tenant, receipt.get("prompts", ()))
    answer = await _ask_again(pipeline, receipt, library.tenant, prompts, before)
    new = receipt_of(answer, configuration)
    then, now = _compared(receipt), _compared(new)
    identical = receipt["answer_sha256"] == new["answer_sha256"] and all(
        then[key] == now[key] for key in ("reason", "citations")
    )
    same_from_old_prompt = None
    if not (identical or prompt.lost) and new["prompt_sha256"] != receipt["prompt_sha256"]:
        text = await _answer_from(pipeline, answer, receipt["question"], prompt.sources)
        same_from_old_prompt = digest(text) == receipt["answer_sha256"]
    causes = _causes(receipt, new, prompt.states)
    if not identical and not causes:
        causes = [Cause("model varies", "the model answers the same prompt in another way")]
    return Replay(receipt["answer_id"], identical, causes, same_from_old_prompt, then, now)


def _compared(receipt: Mapping[str, Any]) -> Json:
    # what Helix found follows from the answer and its sources
    citations = [
        {key: each[key] for key in _COMPARED}
        for each in receipt["citations"]
        if each.get("by") != "helix"
    ]
    return {"answer": receipt["answer"], "reason": receipt["reason"], "citations": citations}


async def _ask_again(
    pipeline: AnswerPipeline,
    receipt: Mapping[str, Any],
    tenant: str,
    prompts: Prompts,
    before: Before | None,
) -> Answer:
    question = Question(
        receipt["question"], Scope.of_json(receipt["scope"], tenant), receipt["top_k"],
        model=_model_of(pipeline, receipt),
        mode="write" if receipt.get("mode") == "write" else "answer",
        marks=receipt.get("cite") == "proof",
    )  # fmt: skip
    if before is not None:
        scope = replace(question.scope, attached=before.attached)
        question = replace(question, scope=scope, history=before.history, images=before.images)
    gathered = receipt.get("agent")  # a receipt of an older release says nothing of it
    agent = (await pipeline.answerer_of(question)).agent if gathered else None
    gatherer = agent.again(gathered["calls"]) if gathered and agent else None
    request = AnswerRequest(pipeline, question, recorded=False, prompts=prompts, gatherer=gatherer)
    async with aclosing(await request.start()) as stream:
        async for _ in stream:
            continue
    answer = await request.conclude(stream)
    if receipt["reason"] == "ungrounded":  # only an answer that was withheld then can be now
        answer = await request.finish(answer, withhold=pipeline.withhold)
    return answer


def _model_of(pipeline: AnswerPipeline, receipt: Mapping[str, Any]) -> str | None:
    """The name of the model that answered then; None where it may not be chosen any more."""
    answerers = pipeline.answerers
    return answerers.of_identity(receipt["models"]["llm"]) if answerers else None


async def _answer_from(
    pipeline: AnswerPipeline, answer: Answer, question: str, sources: list[Source]
) -> str:
    """The model's text for the prompt of ``sources``, without a search."""
    space = answer.retrieval.space
    writing = answer.retrieval.writing
    decision = GateDecision(True, None)
    retrieval = Retrieval([], decision, Trace(), space, sources, writing=writing)
    with answer.prompts.active():
        engine = (await pipeline.answerer_of(answer.question)).engine
        asked = Question(question, answer.question.scope, marks=answer.marked)
        read = ReadQuestion(asked, question, FollowUp(question), answer.turn)
        answer_stream = await engine.answer_from(read, retrieval)
    async with aclosing(answer_stream) as stream:
        async for _ in stream:
            continue
    return stream.answer


def _causes(then: Mapping[str, Any], now: Json, states: Mapping[int, str]) -> list[Cause]:
    """Differences between the receipts ``then`` and ``now``; ``states`` are of the old sources."""
    before, after = then["settings"], now["settings"]
    causes = [
        Cause(
            "release changed" if name == "version" else "settings changed",
            f"{name}: {before.get(name)} -> {after.get(name)}",
        )
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    before, after = then["models"], now["models"]
    causes += [
        Cause(kind, f"{name}: {before.get(name)} -> {after.get(name)}{_GONE.get(name, '')}")
        for name, kind in _CHANGED_MODELS.items()
        if before.get(name) != after.get(name) and (name != "judge" or then["judged"])
    ]
    causes += _changed_prompts(then, now) + _changed_history(then, now)
    if causes and now["prompt_sha256"] is None and set(states.values()) <= {"same"}:
        return causes  # the gate refuses now, though every source is stored as it was
    details = [*_changed_calls(then, now), *_changed_sources(then, now, states)]
    return causes + [Cause("index changed", detail) for detail in details]


def _changed_calls(then: Mapping[str, Any], now: Json) -> list[str]:
    """The calls of an agent that bring other passages now, a line each."""
    before, after = (((one.get("agent") or {}).get("calls") or []) for one in (then, now))
    return [
        f"call {old['call']} ({old['name']}) brings other passages"
        for old, new in zip(before, after, strict=False)
        if old["chunk_ids"] != new["chunk_ids"]
    ]


def _changed_prompts(then: Mapping[str, Any], now: Json) -> list[Cause]:
    """The prompts whose text is another, though it is of the version named then."""
    before = {use["name"]: use["sha256"] for use in then.get("prompts", ())}
    return [
        Cause("prompt changed", f"{use['name']} is not what it was then")
        for use in now["prompts"]
        if before.get(use["name"], use["sha256"]) != use["sha256"]
    ]


def _changed_history(then: Mapping[str, Any], now: Json) -> list[Cause]:
    """A change of what came before the question; receipts of older releases do not say."""
    before, after = then.get("turn"), now["turn"]
    if before is None or before == after:
        return []
    if after is None and before == {"type": "standalone", "history_sha256": digest("")}:
        return []  # the first question of a conversation is asked as one outside of any
    if after is None:
        detail = "its conversation is gone: the question was asked by itself"
    elif before["history_sha256"] != after["history_sha256"]:
        detail = "what was asked and answered before it is not what it was"
    else:
        detail = f"the turn was {before['type']} and is {after['type']}"
    return [Cause("history changed", detail)]


def _changed_sources(then: Mapping[str, Any], now: Json, states: Mapping[int, str]) -> list[str]:
    """The sources that changed, are new, or are gone, a line each."""
    before, after = then["index"]["sources"], now["index"]["sources"]
    lines = [
        f"{_label(source)} was {states[source['n']].removeprefix('source ')}"
        for source in before
        if states.get(source["n"], "same") != "same"
    ]
    old_texts = {source["sha256"] for source in before}
    distances = {row["chunk_id"]: row["distance"] for row in now["debug"]["candidates"]["near"]}
    for source in after:
        if source["sha256"] not in old_texts:
            distance = distances.get(source["chunk_id"])
            at = "" if distance is None else f" at distance {distance:.4f},"
            lines.append(
                f"chunk {source['chunk_id']} of document {source['document_id']} is source"
                f" [{source['n']}] now,{at} and was none"
            )
    if before and now["prompt_sha256"] is None:  # then no source is one now, by the gate's refusal
        return lines or ["nothing that is stored passes the gate now"]
    new_texts = {source["sha256"] for source in after}
    lines += [
        f"{_label(source)} is still stored, and none now"
        for source in before
        if source["sha256"] not in new_texts and states.get(source["n"]) == "same"
    ]
    if not lines and before != after:
        return ["the same sources in another order or under other ids"]
    return lines


def _label(source: Json) -> str:
    n, chunk, document = (source[key] for key in ("n", "chunk_id", "document_id"))
    return f"source [{n}] (chunk {chunk} of document {document})"


def _lines(compared: Json) -> list[str]:
    answer = compared["answer"]
    lines = ["(its words are gone with a document)"] if answer is None else answer.splitlines()
    lines += [f"reason: {compared['reason']}"] if compared["reason"] else []
    return lines + [
        f"[{each['n']}] chunk {each['chunk_id']} of document {each['document_id']},"
        f" {each['start']} to {each['end']}"
        for each in compared["citations"]
    ]
