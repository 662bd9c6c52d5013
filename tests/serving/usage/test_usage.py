"""/v1/usage: every entrance counts alike; who sees what, and what it cost."""

from __future__ import annotations

import time
from dataclasses import replace

import psycopg
import pytest

from helix.library.keys import KEY_SCOPES, create_key
from tests.serving.usage.conftest import (
    COST,
    COUNTS,
    DEADLINE,
    FOREIGN,
    MODEL,
    ONCE,
    SAID,
    Holder,
    Served,
    settled,
    totals_of,
)
from tests.support.ai_sdk import chat
from tests.support.entrances import ENTRANCES
from tests.support.query_service import QUESTION
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, call_part, calling

ENTRANCES_OF_QUESTIONS = [
    "ask", "query", "chat question", "responses", "UI chat", "MCP ask", "query of an agent",
]  # fmt: skip


@pytest.mark.parametrize("entrance", ENTRANCES_OF_QUESTIONS)
def test_every_entrance_counts_a_question_alike(
    served: Served, wire: GeminiWire, entrance: str
) -> None:
    holder = served.key()
    if entrance == "query of an agent":
        search = calling(call_part("search_library", {"query": "request a refund within days"}))
        wire.script(replace(search, usage=COUNTS), Answer(("DONE",), usage=COUNTS), SAID,
                    on="generate")  # fmt: skip
        expected = {
            "questions": 1, "calls": 3, "input_tokens": 3000, "cost_usd": pytest.approx(3 * COST),
        }  # fmt: skip
    else:
        wire.script(SAID, on="generate")
        expected = ONCE
    if entrance == "UI chat":
        told = holder.authorized.post("/v1/ui/chat", json=chat(QUESTION))
    else:
        told = ENTRANCES[entrance](holder.authorized, QUESTION)
    assert told.status_code == 200, told.text
    settled(holder, expected)


def test_a_conversation_counts_its_turns(served: Served, wire: GeminiWire) -> None:
    holder = served.key()
    made = holder.send("POST", "/v1/conversations", json={}).json()["id"]
    wire.script(SAID, on="generate")
    told = holder.send(
        "POST", f"/v1/conversations/{made}/messages", json={"question": QUESTION, "stream": False}
    )
    assert told.status_code == 200
    settled(holder, ONCE)
    rows = holder.send("GET", "/v1/usage").json()["rows"]
    assert [(row["key_id"], row["key"], row["model"], row["space_id"]) for row in rows] == [
        (holder.id, "robot", MODEL, None)
    ]


def test_refusals_and_votes_are_counted(served: Served, wire: GeminiWire) -> None:
    holder = served.key()
    assert holder.ask(FOREIGN).json()["abstained"]
    wire.script(SAID, on="generate")
    answer = holder.ask().json()["answer_id"]
    for rating in ("up", "down", "up"):
        told = holder.send("POST", f"/v1/answers/{answer}/feedback", json={"rating": rating})
        assert told.status_code == 201 and set(told.json()) == {
            "answer_id", "rating", "note", "created_at",
        }  # fmt: skip
    expected = {"questions": 2, "refusals": 1, "votes_up": 2, "votes_down": 1, "calls": 1}
    settled(holder, expected)
    (row,) = holder.send("GET", "/v1/usage", params={"by": "model"}).json()["rows"]
    assert row["model"] == MODEL


def test_what_breaks_off_costs_what_it_has_taken(served: Served, wire: GeminiWire) -> None:
    """A stream that its client leaves, and one that the service cuts: counted with their tokens."""
    holder = served.key()
    cut = Answer(("Ask within ", "30 days"), usage=COUNTS, finish="MAX_TOKENS")
    wire.script(cut, on="generate")
    text = holder.send("GET", "/ask", params={"q": QUESTION}).text
    assert "event: citations" not in text
    settled(holder, ONCE)
    slow = Answer(tuple(["word "] * 200), usage=COUNTS, delay=0.05)
    wire.script(slow, on="generate")
    with holder.authorized.stream("GET", "/ask", params={"q": QUESTION}) as stream:
        next(stream.iter_lines())
    settled(holder, {"questions": 2})


def test_the_judge_is_counted_too(served: Served, wire: GeminiWire) -> None:
    holder = served.key()
    verdict = Answer(
        ('{"grounded": true, "unsupported_claims": [], "cited_ids": [1],'
         ' "citations_correct": true, "relevant": true}',), usage=COUNTS,
    )  # fmt: skip
    wire.script(SAID, verdict, on="generate")
    assert holder.ask(verdict=True).json()["verdict"]["grounded"]
    settled(holder, {"questions": 1, "calls": 2, "input_tokens": 2000})


def test_a_question_counts_for_the_space_that_it_is_about(
    served: Served, wire: GeminiWire, stored: dict[str, int]
) -> None:
    owner = served.key(KEY_SCOPES)
    made = owner.send("POST", "/v1/spaces", json={"name": "Board"}).json()["id"]
    add = {"add": list(stored.values())}
    assert owner.send("POST", f"/v1/spaces/{made}/documents", json=add).status_code == 200
    limited = served.key(spaces=["Board"])
    for holder in (limited, owner):
        wire.script(SAID, on="generate")
        assert holder.ask(space="Board").status_code == 200
        totals_of(limited, {"questions": 1})
    wire.script(SAID, on="generate")
    owner.ask()
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        rows = owner.send("GET", "/v1/usage", params={"by": "who,space"}).json()["rows"]
        found = {(r["key_id"], r["space"]): r["questions"] for r in rows}
        if found.get((owner.id, None)):
            break
    assert found[owner.id, "Board"] == found[owner.id, None] == found[limited.id, "Board"] == 1
    only = limited.send("GET", "/v1/usage").json()
    assert not only["everybody"] and {row["key_id"] for row in only["rows"]} == {limited.id}
    assert "all" not in limited.send("GET", "/v1/usage/limits").json()
    with psycopg.connect(served.url, autocommit=True) as connection:
        connection.execute("UPDATE api_keys SET space_ids = '{0}' WHERE id = %s", (limited.id,))
    owner.send("PATCH", f"/v1/spaces/{made}", json={"name": "Layoffs"})
    told = limited.send("GET", "/v1/usage").json()["rows"]
    assert [(row["space_id"], row["space"]) for row in told] == [(made, None)], "taken away"
    assert "Layoffs" not in limited.send("GET", "/v1/usage", params={"format": "csv"}).text


def test_a_person_sees_their_own_and_an_owner_everybodys(served: Served, wire: GeminiWire) -> None:
    owner, reader = served.person("olga", "owner"), served.person("rita", "reader")
    olga, rita = served.browser("olga"), served.browser("rita")
    with psycopg.connect(served.url, autocommit=True) as connection:
        number, secret = create_key(
            connection, "default", "=cmd|' /C calc'!A0", ("ask",), person_id=reader
        )
    for client in (olga, rita, Holder(served.client, number, secret).authorized):
        wire.script(SAID, on="generate")
        assert client.post("/v1/query", json={"question": QUESTION}).status_code == 200
    assert totals_of(rita, {"questions": 2})["questions"] == 2  # by her session, and her token
    told = rita.get("/v1/usage", params={"by": "who,key"}).json()
    assert {row["person_id"] for row in told["rows"]} == {reader}
    assert {row["key_id"] for row in told["rows"]} == {None, number}
    totals_of(olga, {})
    rows = olga.get("/v1/usage", params={"by": "who"}).json()["rows"]
    theirs = {row["person_id"]: row["questions"] for row in rows if row["person_id"]}
    assert theirs[reader] == 2 and theirs[owner] == 1
    assert rita.put("/v1/usage/limits", json={"questions_day": 9}).status_code == 403
    sheet = rita.get("/v1/usage", params={"by": "who,key"}, headers={"Accept": "text/csv"})
    assert sheet.headers["content-type"] == "text/csv; charset=utf-8"
    assert "'=cmd" in sheet.text and ",=cmd" not in sheet.text
    # whoever is erased is gone from it
    with psycopg.connect(served.url, autocommit=True) as connection:
        connection.execute("DELETE FROM people WHERE id = %s", (reader,))
        left = connection.execute("SELECT FROM usage_days WHERE person_id = %s", (reader,))
        assert left.fetchall() == []


@pytest.mark.parametrize("query", [{"by": "secret"}, {"from": "2026-02-01", "to": "2026-01-01"},
                                   {"from": "yesterday"}])  # fmt: skip
def test_a_report_that_cannot_be_is_refused(served: Served, query: dict[str, str]) -> None:
    assert served.key().send("GET", "/v1/usage", params=query).status_code == 400
