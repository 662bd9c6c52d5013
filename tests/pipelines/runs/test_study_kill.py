"""``kill -9`` of a worker that makes a study set: what is finished stays, the rest is made."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.evidence.vectors import IDENTITY
from helix.study.sets import NewSet, order_set
from tests.support.fake_embedder import rows
from tests.support.query_service import a_store
from tests.support.service_process import environment, eventually
from tests.support.study_texts import BRIDGE, FERRY, store_study_texts
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Hang

pytestmark = pytest.mark.processes

PARAGRAPHS = [*BRIDGE.split("\n\n"), *FERRY.split("\n\n")]
FINISHED = 4
"""Passages whose cards are stored before the kill."""
ITEMS = "SELECT id, n, body FROM study_items ORDER BY n"


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with GeminiWire() as wire:
        yield wire


def _reply() -> Answer:
    """A card for every paragraph: of each passage only its own is proven."""
    cards = [{"front": f"{' '.join(text.split()[:6])} …?", "back": text} for text in PARAGRAPHS]
    return Answer((json.dumps({"items": cards}),))


def _passages(wire: GeminiWire) -> list[str]:
    """The user turn of each request so far: the passage that cards were asked of."""
    return [request.body["contents"][0]["parts"][0]["text"] for request in wire.requests]


def _worker(url: str, wire: GeminiWire, folder: Path) -> Process:
    variables = environment(
        DATABASE_URL=url, GOOGLE_GEMINI_BASE_URL=wire.base_url, GEMINI_API_KEY="test-key",
        HELIX_LLM="gemini", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    return Process("pipelines.worker", "--until-idle", cwd=folder, env=variables)


@pytest.mark.timeout(120)
def test_a_killed_worker_leaves_whole_items_and_the_next_makes_the_rest(
    database_url: str, wire: GeminiWire, tmp_path: Path
) -> None:
    with a_store(database_url) as store:
        store_study_texts(store)
    rows(database_url, "UPDATE embedding_space SET identity = %s RETURNING 1", IDENTITY)
    with psycopg.connect(database_url) as connection:
        order_set(connection, DEFAULT_TENANT, NewSet("cards", count=len(PARAGRAPHS)))
    wire.script(*[_reply()] * FINISHED, Hang(), on="generate")
    killed = _worker(database_url, wire, tmp_path)
    assert eventually(lambda: len(wire.requests) == FINISHED + 1), "it waits for the model"
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    finished: list[Any] = rows(database_url, ITEMS)
    assert len(finished) == FINISHED
    assert rows(database_url, "SELECT at FROM study_sets") == [(FINISHED,)]
    before = _passages(wire)

    wire.script(*[_reply()] * len(PARAGRAPHS), on="generate")
    following = _worker(database_url, wire, tmp_path)
    _, errors = following.communicate(timeout=100)
    assert following.returncode == 0, errors
    assert rows(database_url, "SELECT status FROM runs") == [("done",)]
    made: list[Any] = rows(database_url, ITEMS)
    assert made[:FINISHED] == finished
    assert sorted(body["back"] for _, _, body in made) == sorted(PARAGRAPHS)
    after = _passages(wire)[FINISHED + 1 :]
    assert after[0] == before[-1], "the passage that was under way is asked again"
    assert not set(before[:FINISHED]) & set(after), "no finished one is"
