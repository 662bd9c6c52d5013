"""Database and embedding service fail at every step: no refusal is guessed, no answer is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import psycopg
import pytest

from helix.domain.contract import REFUSAL
from tests.agent.test_stream import ENOUGH, SAID, named, searching, text_of, told
from tests.support.query_service import post
from tests.support.wire.gemini import GeminiWire, Received
from tests.support.wire.gemini_replies import (
    Answer,
    Failure,
    Reply,
    Vectors,
    call_part,
    calling,
    refused_key,
)

Break = Callable[[psycopg.Connection], None]
_TURNS = 3
"""Two that search and one that ends it; then the answer is written."""


def _rename(connection: psycopg.Connection) -> None:
    connection.execute("ALTER TABLE documents RENAME TO gone")


def _cut(connection: psycopg.Connection) -> None:
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


@contextmanager
def broken_at(
    wire: GeminiWire, monkeypatch: pytest.MonkeyPatch, url: str, turn: int, broken: Break
) -> Iterator[None]:
    """The database breaks when the model is asked for the time ``turn``, before it replies."""
    asked, reply_to = [0], wire.reply_to
    with psycopg.connect(url, autocommit=True) as owner:

        def replied(request: Received) -> Reply | None:
            if request.kind == "generate":
                asked[0] += 1
                if asked[0] == turn:
                    broken(owner)
            return reply_to(request)

        with monkeypatch.context() as patch:
            patch.setattr(wire, "reply_to", replied)
            try:
                yield
            finally:
                wire._script.clear()
                owner.execute("ALTER TABLE IF EXISTS gone RENAME TO documents")
    assert asked[0] >= turn, "it broke nothing"


@pytest.mark.parametrize("turn", range(1, _TURNS + 2))
@pytest.mark.parametrize("broken", [_rename, _cut])
def test_a_database_that_fails_at_any_step(
    client: httpx.Client, wire: GeminiWire, module_database_url: str,
    monkeypatch: pytest.MonkeyPatch, turn: int, broken: Break,
) -> None:  # fmt: skip
    turns = (searching("request a refund within days of purchase"),
             searching(f"standard parcels working days {turn} Norway"), ENOUGH)  # fmt: skip
    with broken_at(wire, monkeypatch, module_database_url, turn, broken):
        events = told(client, wire, *turns, SAID)
    names = [name for name, _ in events]
    if broken is _cut:  # the next read has a new connection
        assert names[-1] == "done" and text_of(events) == "".join(SAID.deltas)
        assert not [each for each in named(events, "tool") if each.get("failure")]
    else:
        assert names[-1] == "error" and list(events[-1][1]) == ["error"]
        assert "citations" not in names and text_of(events) != REFUSAL
    assert post(client).status_code == 200


NO_VECTORS: dict[str, Reply] = {
    "refused": refused_key(),
    "bad request": Failure(400, "INVALID_ARGUMENT", "The wire server was told to refuse."),
    "narrow": Vectors(width=3),
    "too few": Vectors(missing=1),
}


@pytest.mark.parametrize("failure", NO_VECTORS.values(), ids=NO_VECTORS)
@pytest.mark.parametrize("served", [0, 1, 2])
def test_an_embedding_service_that_fails_at_any_step(
    client: httpx.Client, wire: GeminiWire, failure: Reply, served: int
) -> None:
    """So many questions are embedded, and no more: an answer from the searches that were made."""
    mark = f"{served}{len(repr(failure))}"
    turns = (searching(f"request a refund within days of purchase {mark}"),
             searching(f"standard parcels working days Norway {mark}"), ENOUGH)  # fmt: skip
    wire.script(*[Vectors()] * served, *[failure] * 9, on="embed")
    try:
        events = told(client, wire, *turns, SAID, question=f"Compare refunds, parcels. {mark}")
    finally:
        wire._script.clear()
    failed = [each for each in named(events, "tool") if each.get("failure")]
    if served == 0:
        assert events[-1][0] == "error" and text_of(events) == ""
        return
    assert events[-1][0] == "done" and len(failed) == 2 - served
    assert text_of(events).startswith("Refunds take 30 days [1]")
    calls = events[-1][1]["agent"]["calls"]
    assert [bool(call["failure"]) for call in calls] == [False, served == 1]


def test_a_gate_that_cannot_be_measured_is_an_error_and_no_refusal(
    client: httpx.Client, wire: GeminiWire, stored: dict[str, int]
) -> None:
    wire.script(*[refused_key()] * 9, on="embed")
    reading = calling(call_part("read_document", {"document_id": stored["refunds"]}))
    try:
        events = told(client, wire, reading, ENOUGH, SAID, question="May gift cards be returned?")
    finally:
        wire._script.clear()
    assert named(events, "source") and events[-1][0] == "error" and text_of(events) == ""


def test_nothing_is_refused_where_one_search_found_nothing_and_another_could_not_be_made(
    client: httpx.Client, wire: GeminiWire
) -> None:
    question = "Who won the chess tournament of Reykjavik?"
    wire.script(Vectors(), *[refused_key()] * 9, on="embed")
    try:
        events = told(
            client, wire, searching("chess tournament Reykjavik"), searching("chess winner"),
            ENOUGH, question=question,
        )  # fmt: skip
    finally:
        wire._script.clear()
    assert events[-1][0] == "error" and REFUSAL not in str(events)


def test_nothing_is_refused_where_the_model_broke_off_before_it_had_found_anything(
    client: httpx.Client, wire: GeminiWire
) -> None:
    turns = searching("bishop and rook openings"), Answer(deltas=("Well",), finish="SAFETY")
    events = told(client, wire, *turns, question="Who won the chess tournament of Oslo?")
    assert events[-1][0] == "error" and REFUSAL not in str(events)
