"""Answers that fail midway, through every protocol: never a cut answer that looks whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psycopg
import pytest

from helix.store import ChunkStore
from tests.support.answer_endings import PROTOCOLS, Protocol
from tests.support.query_service import REFUNDS, store_text
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Reply, daily_quota, refused_key

KEPT = ("conversation", "ui resumable")
"""The protocols whose answers are stored, and so wait for the database: seconds."""
HALF = ("Refunds are ", "accepted wi")
EVERY = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))


@EVERY
def test_a_whole_answer_looks_whole(client: httpx.Client, protocol: Protocol) -> None:
    assert protocol.ending(protocol.ask(client)) == "whole"


@pytest.mark.parametrize(
    "broken",
    [
        Answer(deltas=HALF, then="cut"),
        Answer(deltas=HALF, finish=None),
        Answer(deltas=HALF, finish="SAFETY"),
        Answer(deltas=HALF, finish="MAX_TOKENS"),
        Answer(deltas=HALF, finish="MAX_TOKENS", finish_alone=False),
        Answer(deltas=HALF, finish="OTHER"),
        Answer(deltas=HALF, error=(503, "UNAVAILABLE")),
    ],
    ids=["cut", "no-finish", "safety", "tokens", "tokens-in-text", "other", "error"],
)
def test_a_model_that_breaks_off(client: httpx.Client, wire: GeminiWire, broken: Answer) -> None:
    for protocol in PROTOCOLS.values():
        wire.script(broken, on="generate")
        response = protocol.ask(client)
        assert protocol.ending(response) == _broken_off(protocol), protocol.path
        assert ("accepted" in response.text) == protocol.streams  # told in part, or not at all


def _broken_off(protocol: Protocol) -> str:
    return "cut" if protocol.streams or protocol.path == "/mcp" else "refused"


@pytest.mark.parametrize(
    "reply",
    [Answer(deltas=(), block="SAFETY"), Answer(deltas=()), refused_key(), daily_quota()],
    ids=["block", "nothing", "key", "quota"],
)
def test_a_model_that_says_nothing(client: httpx.Client, wire: GeminiWire, reply: Reply) -> None:
    for protocol in PROTOCOLS.values():
        wire.script(reply, on="generate")
        assert protocol.ending(protocol.ask(client)) != "whole", protocol.path


@contextmanager
def _without_documents(url: str) -> Iterator[None]:
    """The database answers no question while the block lasts."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ALTER TABLE documents RENAME TO gone")
        try:
            yield
        finally:
            owner.execute("ALTER TABLE gone RENAME TO documents")


def test_a_database_that_is_gone_before(client: httpx.Client, module_database_url: str) -> None:
    with _without_documents(module_database_url):
        for name, protocol in PROTOCOLS.items():
            if name not in KEPT:
                assert protocol.ending(protocol.ask(client)) == _refused(protocol), name


def _refused(protocol: Protocol) -> str:
    return "cut" if protocol.path == "/mcp" else "refused"


@contextmanager
def _replaced_again_and_again(store: ChunkStore) -> Iterator[None]:
    """The source is another version of itself at every moment of the block."""
    over = threading.Event()

    def replace() -> None:
        version = 0
        while not over.wait(0.02):
            version += 1
            text = REFUNDS.replace("30 days", f"{version} days")
            store_text(store, "a/refunds.md", "Refund Policy", text)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


@EVERY
def test_a_source_that_is_replaced_meanwhile(
    client: httpx.Client, wire: GeminiWire, store: ChunkStore, protocol: Protocol
) -> None:
    slow = Answer(deltas=(*HALF, "thin 30 days of purchase [1]."), delay=0.1)
    attempts = 1 if protocol.streams else 2  # what is not told yet is made anew once
    wire.script(*[slow] * attempts, on="generate")
    with _replaced_again_and_again(store):
        assert protocol.ending(protocol.ask(client)) == _broken_off(protocol)


@pytest.mark.parametrize(
    "protocol",
    [
        pytest.param(protocol, id=name, marks=[pytest.mark.soak] if name in KEPT else [])
        for name, protocol in PROTOCOLS.items()
    ],
)
def test_a_database_that_is_gone_meanwhile(
    client: httpx.Client, wire: GeminiWire, module_database_url: str, protocol: Protocol
) -> None:
    wire.script(Answer(deltas=(*HALF, "thin 30 days [1]."), delay=0.1), on="generate")
    asked: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: asked.append(protocol.ask(client)))
    asking.start()
    assert wire.wait_until(lambda wire: wire.open_streams > 0)
    with _without_documents(module_database_url):
        asking.join()
    assert protocol.ending(asked[0]) != "whole"
