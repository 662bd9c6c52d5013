"""The replies that the Gemini wire server can be told to give, and the JSON they become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

WIDTH = 1536

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """A generated answer: ``delay`` seconds before each delta; what happens after the last.

    ``finish`` goes in a chunk without parts, or with ``finish_alone=False`` in the last delta's.
    ``parts`` are sent as they are, each in a chunk of its own, before the deltas. ``block`` is a
    promptFeedback.blockReason, in place of all else. ``error`` is an error object inside the
    stream. ``then`` cuts the connection or falls silent where the end would be. ``usage`` is the
    usageMetadata of the last chunk; ``model_version`` is the model that answers, the one asked for
    where it is empty.
    """

    deltas: tuple[str, ...] = ("A wired ", "answer [1].")
    thoughts: tuple[str, ...] = ()
    parts: tuple[Json, ...] = ()
    finish: str | None = "STOP"
    finish_alone: bool = True
    block: str | None = None
    error: tuple[int, str] | None = None
    then: Literal["end", "cut", "hang"] = "end"
    delay: float = 0.0
    usage: Json = field(default_factory=dict)
    model_version: str = ""


@dataclass(frozen=True)
class Failure:
    """An error status in Google's format, or with ``text`` any other body."""

    status: int
    name: str
    message: str = "The wire server was told to fail."
    details: tuple[Json, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True)
class Hang:
    """Silence before any byte of the response, until the client leaves."""


@dataclass(frozen=True)
class Drop:
    """The connection closed before any byte of the response."""


@dataclass(frozen=True)
class Vectors:
    """Embeddings that are wrong: another width, fewer than asked for, or one value throughout."""

    width: int = WIDTH
    missing: int = 0
    value: float | None = None


Reply = Answer | Failure | Hang | Drop | Vectors


def rate_limited(retry_delay: str | None = "0.05s", **headers: str) -> Failure:
    """A per-minute 429, with RetryInfo unless ``retry_delay`` is None."""
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}
    details = (_quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), retry)
    message = "You exceeded your current quota. * Quota exceeded for metric: requests, limit: 10"
    return Failure(
        429,
        "RESOURCE_EXHAUSTED",
        message,
        details if retry_delay else details[:1],
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


def daily_quota() -> Failure:
    """A per-day 429; Google sends a short RetryInfo with it all the same."""
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"}
    quota = _quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
    return Failure(429, "RESOURCE_EXHAUSTED", "You exceeded your quota.", (quota, retry))


def spend_limit(retry_delay: str = "1s") -> Failure:
    """A 429 for what a tier may spend in ten minutes, with a RetryInfo that promises too much."""
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}
    message = "You exceeded the spend-based rate limit of your usage tier (10-minute window)."
    details = (_quota("GenerateContentSpendPerTenMinutesPerProject-Tier1"), retry)
    return Failure(429, "RESOURCE_EXHAUSTED", message, details)


def monthly_spend() -> Failure:
    """A 429 for what a project may spend in a month."""
    message = "Your project has exceeded its monthly spending cap."
    return Failure(429, "RESOURCE_EXHAUSTED", message)


def no_quota() -> Failure:
    """A 429 for a model that the key's plan does not include."""
    return Failure(429, "RESOURCE_EXHAUSTED", "* Quota exceeded for metric: requests, limit: 0")


def unavailable(status: int = 503) -> Failure:
    return Failure(status, "UNAVAILABLE", "The model is overloaded. Please try again later.")


def refused_key() -> Failure:
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    return Failure(400, "INVALID_ARGUMENT", "API key not valid.", (info,))


def unknown_model() -> Failure:
    return Failure(404, "NOT_FOUND", "models/x is not found for API version v1beta")


def _quota(quota_id: str) -> Json:
    violation = {"quotaMetric": "generativelanguage.googleapis.com/requests", "quotaId": quota_id}
    kind = "type.googleapis.com/google.rpc.QuotaFailure"
    return {"@type": kind, "violations": [violation]}


def error_body(failure: Failure) -> Json:
    details = [*failure.details]
    error = {"code": failure.status, "message": failure.message, "status": failure.name}
    return {"error": {**error, **({"details": details} if details else {})}}


def _candidate(text: str | None, *, thought: bool = False, finish: str | None = None) -> Json:
    part: Json = {"text": text, **({"thought": True} if thought else {})}
    return _chunk_of(None if text is None else part, finish)


def _chunk_of(part: Json | None, finish: str | None = None) -> Json:
    candidate: Json = {"index": 0}
    if part is not None:
        candidate["content"] = {"role": "model", "parts": [part]}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "wire", "usageMetadata": {}}


def call_part(name: str, arguments: Json, signature: str = "", call_id: str = "") -> Json:
    """A part that calls a tool; ``signature`` is its thought's, in base64."""
    call: Json = {"name": name, "args": arguments, **({"id": call_id} if call_id else {})}
    return {"functionCall": call, **({"thoughtSignature": signature} if signature else {})}


def calling(*parts: Json, thoughts: tuple[str, ...] = ()) -> Answer:
    """A turn of these parts, most of them calls, and no more."""
    return Answer(deltas=(), parts=parts, thoughts=thoughts)


def stream_chunks(answer: Answer) -> list[Json]:
    """The objects of a stream, in order."""
    if answer.block:
        return [{"promptFeedback": {"blockReason": answer.block}, "usageMetadata": {}}]
    chunks = [_candidate(thought, thought=True) for thought in answer.thoughts]
    chunks += [_chunk_of(part) for part in answer.parts]
    chunks += [_candidate(delta) for delta in answer.deltas]
    if answer.error:
        code, name = answer.error
        return [*chunks, error_body(Failure(code, name))]
    if answer.then == "end" and answer.finish:
        if answer.finish_alone or not answer.deltas:
            chunks.append(_candidate(None, finish=answer.finish))
        else:
            chunks[-1]["candidates"][0]["finishReason"] = answer.finish
    return _told(chunks, answer)


def _told(chunks: list[Json], answer: Answer) -> list[Json]:
    """``chunks`` with the model's name in each, and the counts of tokens in the last."""
    for chunk in chunks:
        chunk["modelVersion"] = answer.model_version
    if chunks:
        chunks[-1]["usageMetadata"] = answer.usage
    return chunks


def whole_body(answer: Answer) -> Json:
    """The same answer in one piece, as generateContent gives it."""
    if answer.block:
        return stream_chunks(answer)[0]
    body = _candidate("".join(answer.deltas), finish=answer.finish)
    thoughts = [{"text": thought, "thought": True} for thought in answer.thoughts]
    thoughts += answer.parts
    body["candidates"][0]["content"]["parts"][:0] = thoughts
    return _told([body], answer)[0]
