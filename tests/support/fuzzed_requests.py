"""Requests made at random, many of them wrong, and what a right one is to find."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

NASTY = [
    "b' OR '1'='1", "O'Brien", "'; DROP TABLE chunks; --", '") OR true --', "%", "_", "\\", "\\'",
    "/*", '"', "", " ", ":x", "%(tenant)s", "%s", "$1", "{}", "{a,b}", "?", "NaN", "null", "\x00",
    "a\x00b", "\ud800", "\u202e", "\u200b", "ﷺ", "İ", "🦆" * 3, "a" * 3000, "\n", "1e999", "-1",
    "[1]", "🏴\U000e0067", "default'--", "infinity", "epoch", "now()", "2024-01-01", "\x1b[31m",
    "é", "e\u0301",
]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 10**400, 0.0, -0.0, 0.5,
    1e308, 1e-320, float("inf"), float("-inf"), float("nan"), True, False,
]  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """A document as it was stored."""

    id: int
    tenant: str
    uri: str
    tags: tuple[str, ...]
    at: datetime


URIS = ["a/x.md", "a'/y.md", "a%/z", "_/w", "\\/v", "A/x.md", "ü/é", "a", "b' OR '1'='1", "%"]
TAGS = [
    ("red", "blue"), ("blue",), ("O'Brien", "{}"), (), ("%", "_"), ("{a,b}", '"'), ("null",),
    ("NaN", "red"), ("é",), ("\\", "b' OR '1'='1"),
]  # fmt: skip
TENANTS = ["default", "acme", "x@y.z"]
NOON = datetime.fromisoformat("2024-03-01T12:00:00.123456+00:00")


def some_text(draw: random.Random) -> str:
    if draw.random() < 0.8:
        return draw.choice(NASTY)
    kinds: list[Callable[[], str]] = [
        lambda: chr(draw.randrange(0x110000)),
        lambda: chr(draw.randrange(32, 127)),
    ]
    return "".join(draw.choice(kinds)() for _ in range(draw.randrange(1, 12)))


def _wrong(draw: random.Random) -> Any:
    """A value of any kind."""
    kinds: list[Callable[[], Any]] = [
        lambda: some_text(draw),
        lambda: draw.choice(NUMBERS),
        lambda: None,
        list,
        lambda: [some_text(draw)],
        lambda: {some_text(draw): some_text(draw)},
        lambda: [[[]]],
        lambda: {"$gt": 1},
    ]
    return draw.choice(kinds)()


def _moment(draw: random.Random) -> str:
    at = NOON + timedelta(days=draw.randrange(-2, 12), microseconds=draw.randrange(-1, 2))
    at += timedelta(hours=(offset := draw.randrange(-12, 14)))
    return at.replace(tzinfo=None).isoformat() + f"{offset:+03d}:00"


def _right(draw: random.Random, key: str, ids: list[int]) -> Any:
    if key == "document_ids":
        return draw.choices([*ids, 0, 2**63 - 1], k=draw.randrange(1, 8))
    if key == "tags":
        return list(draw.choice([*TAGS, ("red",), ("blue", "blue", " red ")])) or [some_text(draw)]
    if key == "source_prefix":
        uri = draw.choice(URIS)
        return uri[: draw.randrange(1, len(uri) + 1)]
    known: dict[str, list[Any]] = {
        "tenant_id": TENANTS,
        "top_k": [50],
        "debug": [True, False],
        "stream": [False],
    }
    return draw.choice(known[key]) if key in known else _moment(draw)


def request_body(draw: random.Random, ids: list[int]) -> dict[str, Any]:
    """The JSON of a request; about one in three is to be refused."""

    def some(names: tuple[str, ...], of: float) -> dict[str, Any]:
        chosen = [name for name in names if draw.random() < of]
        strange = [some_text(draw)] if draw.random() < 0.03 else []
        return {
            name: _wrong(draw) if draw.random() < 0.12 else _right(draw, name, ids)
            for name in chosen
        } | {name: _wrong(draw) for name in strange}

    made = some(("tenant_id", "top_k", "document_ids", "debug", "stream"), 0.3)
    made["question"] = draw.choice(["zebra quagga okapi", some_text(draw)])
    if draw.random() < 0.7:
        made["filters"] = some(("source_prefix", "tags", "since", "until"), 0.35)
    return made


def encoded(made: dict[str, Any]) -> bytes:
    """The bytes that a client sends; lone surrogates as escapes or as bytes that are no UTF-8."""
    if sum(map(ord, json.dumps(made))) % 2:
        return json.dumps(made).encode()
    return json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass")


def fitting(made: dict[str, Any], documents: list[Stored]) -> set[int]:
    """The documents that an accepted request may be answered from, by its JSON."""
    filters = made.get("filters") or {}
    tags = {tag.strip() for tag in filters.get("tags") or ()}
    bounds = [filters.get(name) for name in ("since", "until")]
    since, until = (at and datetime.fromisoformat(at) for at in bounds)
    return {
        one.id
        for one in documents
        if one.tenant == (made.get("tenant_id") or "default")
        and (made.get("document_ids") is None or one.id in made["document_ids"])
        and one.uri.startswith(filters.get("source_prefix") or "")
        and tags <= set(one.tags)
        and (since is None or one.at >= since)
        and (until is None or one.at <= until)
    }
