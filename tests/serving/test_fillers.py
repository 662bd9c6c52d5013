"""Filler texts stop no server: at each entrance the work grows with the length."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import httpx
import pytest

from helix.conversations.pasted_text import until_read
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from helix.store import ChunkStore
from tests.support.entrances import ENTRANCES
from tests.support.fillers import FILLERS, LENGTHS, filled, grows_linearly
from tests.support.live_server import live
from tests.support.query_service import REFUNDS, SHIPPING, store_text

UNLIMITED = {"key_requests": 0, "tenant_requests": 0, "address_requests": 0}
LONGEST = 20_000
"""Characters of a question, the most that HELIX_MAX_QUESTION_CHARS may be."""


@pytest.fixture(scope="module")
def server(module_database_url: str) -> Iterator[httpx.Client]:
    """A server without a model over two documents, which takes questions as long as any does."""
    settings = load_settings(database_url=module_database_url, llm="offline", embedder="offline")
    embedder = build_embedder(settings)
    store = ChunkStore(module_database_url, embedder.identity)
    store_text(store, "a/refunds.md", "Refund Policy", REFUNDS, model=embedder.model)
    store_text(store, "b/shipping.md", "Shipping", SHIPPING, model=embedder.model)
    store.connections._writing.close()
    with pytest.MonkeyPatch.context() as patched:
        # a long text is read as a file by a worker, and here is none to wait for
        patched.setattr(until_read, "__defaults__", (0.1,))
        with live(module_database_url, max_question_chars=LONGEST, **UNLIMITED) as client:
            yield client


def _cost(server: httpx.Client, entrance: str, filler: str, length: int) -> float:
    """Seconds of the processor, of this process, that a request takes; its answer is checked."""
    text = filled(filler, length)
    started = time.process_time()
    told = ENTRANCES[entrance](server, text)
    took = time.process_time() - started
    at = (entrance, filler, length, told.status_code, told.text[:300])
    # 503: a long text is read as a file, and here is no worker that reads it
    assert told.status_code < 500 or told.status_code in (501, 503), at
    if told.status_code >= 400:
        assert "\n" not in told.text.strip() and list(told.json()) == ["error"], at
    return took


def _check_growth(server: httpx.Client, entrance: str, fillers: list[str]) -> None:
    for filler in fillers:
        costs = [_cost(server, entrance, filler, length) for length in LENGTHS]
        for shorter, longer in pairwise(costs):
            assert grows_linearly(shorter, longer), (entrance, filler, costs)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("place", "entrance"), enumerate(ENTRANCES), ids=ENTRANCES)
def test_the_work_grows_with_the_length(server: httpx.Client, place: int, entrance: str) -> None:
    """A kind of filler at each entrance, another at the next: all kinds come in twice."""
    _check_growth(server, entrance, [[*FILLERS][place % len(FILLERS)]])


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_the_work_of_every_filler_grows_with_the_length(
    server: httpx.Client, entrance: str
) -> None:
    _check_growth(server, entrance, [*FILLERS])
