"""Refusals: can a clock tell an id that never was from one that may not be read?

One application in this process, and readers who may read less than there is. Each route is asked in
pairs, by an id that was never given out and by one of something kept from the reader, in an order
by chance. Of the pairs: the median difference with its bootstrap interval, and how often the time
alone tells which is which (AUC: 0.5 is not at all). A second id that never was, in the place of the
hidden one, is the noise.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50
from benchmarks.receipts import asgi_client
from benchmarks.refused_library import ADDRESS, Hidden, filled, readers
from helix.app import create_app
from helix.settings import load_settings

PAIRS, QUICK_PAIRS, WARM = 2_000, 50, 20
FARTHEST = 0.05
"""The AUC may be so far from 0.5; of 2,000 pairs that of noise is within 0.02, 19 times in 20."""
RESAMPLED = 1_000
Ids = Mapping[str, Any]
Request = tuple[str, str, Callable[[Ids], tuple[str, Any]]]
"""The asker, the method, and the path with the body by the ids of one thing."""

_BOX = "left=72&top=72&right=90&bottom=90"
_ASKED = "Who keeps the register?"


def _fetch(chunk: int) -> dict[str, Any]:
    called = {"name": "fetch", "arguments": {"id": str(chunk)}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}


def _get(template: str) -> Callable[[Ids], tuple[str, Any]]:
    return lambda ids: (template.format(**ids), None)


ROUTES: dict[str, Request] = {
    "document": ("key", "GET", _get("/v1/documents/{document}")),
    "its file": ("key", "GET", _get("/v1/documents/{document}/file")),
    "its pages": ("key", "GET", _get("/v1/documents/{document}/pages")),
    "a page's image": ("key", "GET", _get("/v1/documents/{document}/pages/1.png")),
    "a page's text": ("key", "GET", _get(f"/v1/documents/{{document}}/pages/1/text?{_BOX}")),
    "its boxes": ("key", "GET", _get("/v1/documents/{document}/boxes?start=0&end=9")),
    "its tables": ("key", "GET", _get("/v1/documents/{document}/tables")),
    "a change of it": (
        "key", "PATCH", lambda ids: (f"/v1/documents/{ids['document']}", {"title": "Mine"})
    ),
    "search in it": ("key", "GET", _get("/v1/search?q=register&document_id={document}")),
    "question to it": (
        "key", "POST",
        lambda ids: ("/v1/query", {"question": _ASKED, "document_ids": [ids["document"]]}),
    ),
    "chunk": ("key", "GET", _get("/v1/chunks/{chunk}")),
    "chunk by MCP": ("key", "POST", lambda ids: ("/mcp", _fetch(ids["chunk"]))),
    "run": ("key", "GET", _get("/v1/runs/{run}")),
    "its events": ("key", "GET", _get("/v1/runs/{run}/events")),
    "source": ("key", "GET", _get("/v1/sources/{source}")),
    "space": ("key", "GET", _get("/v1/documents?space={space}")),
    "conversation": ("key", "GET", _get("/v1/conversations/{conversation}")),
    "its message": ("key", "GET", _get("/v1/conversations/{conversation}/messages/{message}")),
    "its export": ("key", "GET", _get("/v1/conversations/{conversation}/export")),
    "study item": (
        "key", "POST", lambda ids: (f"/v1/study/cards/{ids['item']}/review", {"rating": "good"})
    ),
    "share": ("person", "GET", _get("/v1/shared/{share}")),
    "its readers": (
        "person", "PATCH", lambda ids: (f"/v1/shares/{ids['share']}", {"everyone": True})
    ),
    "space's members": ("person", "GET", _get("/v1/spaces/{space}/members")),
}  # fmt: skip
"""By what the id is of; an answer's receipt opens by its id, and a study set is the tenant's."""


@dataclass
class Paired:
    """The seconds of one route's pairs, and what both were told; ``noise`` is of other pairs."""

    name: str
    never: list[float] = field(default_factory=list)
    hidden: list[float] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)
    told: set[int] = field(default_factory=set)

    @property
    def interval(self) -> tuple[float, float, float]:
        """The median of hidden - never, and where 95% of its resamplings lie."""
        pairs = np.array(self.hidden) - np.array(self.never)
        chance = np.random.default_rng(3)
        drawn = pairs[chance.integers(len(pairs), size=(RESAMPLED, len(pairs)))]
        low, high = np.percentile(np.median(drawn, axis=1), (2.5, 97.5))
        return float(np.median(pairs)), float(low), float(high)


def auc(first: list[float], second: list[float]) -> float:
    """The share of pairs in which ``second`` is larger; half of those that are equal."""
    ordered = np.sort(first)
    below = np.searchsorted(ordered, second, "left") + np.searchsorted(ordered, second, "right")
    return float(below.mean() / (2 * len(ordered)))


async def run(options: Options, report: Report) -> None:
    """Fill, and ask each route in pairs."""
    pairs = QUICK_PAIRS if options.quick else PAIRS
    with server() as postgres, postgres.database() as url:
        settings = load_settings(
            database_url=url, llm="offline", embedder="offline", auth="accounts", workers=0,
            key_requests=0, tenant_requests=0, address_requests=0, log_level="error",
        )  # fmt: skip
        kept = await filled(url, settings)
        async with asgi_client(create_app(settings)) as client:
            own = await readers(client, url)
            found = [await _asked(client, own, name, kept, pairs) for name in ROUTES]
    _tell(report, found)


async def _asked(
    client: httpx.AsyncClient, own: Mapping[str, dict[str, str]], name: str, kept: Hidden,
    pairs: int,
) -> Paired:  # fmt: skip
    """The pairs of one route; each is two requests, or three with that of the noise."""
    who, method, sent = ROUTES[name]
    chance, paired = random.Random(name), Paired(name)
    for number in range(WARM + pairs):
        asked = [
            (paired.never, chance.choice(kept.never)), (paired.noise, chance.choice(kept.never)),
            (paired.hidden, chance.choice(kept.hidden)),
        ]  # fmt: skip
        chance.shuffle(asked)
        for taken, ids in asked:
            path, body = sent(ids)
            started = time.perf_counter()
            told = await client.request(method, f"{ADDRESS}{path}", json=body, headers=own[who])
            took = time.perf_counter() - started
            if number >= WARM:
                taken.append(took)
                paired.told.add(told.status_code)
    return paired


def _tell(report: Report, found: list[Paired]) -> None:
    rows = []
    for one in found:
        middle, low, high = one.interval
        rows.append([
            one.name, "/".join(map(str, sorted(one.told))), ms(p50(one.never)),
            ms(p50(one.hidden)), f"{middle * 1e6:+.0f} ({low * 1e6:+.0f} to {high * 1e6:+.0f})",
            f"{auc(one.never, one.hidden):.3f}", f"{auc(one.never, one.noise):.3f}",
        ])  # fmt: skip
    report.table(
        f"refusals: {len(found[0].never)} pairs a route",
        ["id of", "status", "never was, p50 ms", "hidden, p50 ms",
         "median difference, µs (95%)", "AUC", "AUC of noise"],
        rows,
    )  # fmt: skip
    for one in found:
        far = abs(auc(one.never, one.hidden) - 0.5)
        report.at_most(f"AUC of {one.name} from 0.5", far, FARTHEST)


if __name__ == "__main__":
    main({"refusals": run})
