"""Limits of usage: they hold for several at once, say until when, and end with their day."""

from __future__ import annotations

import threading
import time
from datetime import date
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.keys import KEY_SCOPES, create_key
from tests.serving.usage.conftest import (
    COST,
    DEADLINE,
    FOREIGN,
    SAID,
    Holder,
    Served,
    settled,
    totals_of,
)
from tests.support.live_server import live
from tests.support.query_service import QUESTION
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Failure


def _limited(served: Served, owner: httpx.Client, **limits: Any) -> Holder:
    holder = served.key()
    told = owner.put("/v1/usage/limits", json={"key_id": holder.id, **limits})
    assert told.status_code == 200, told.text
    return holder


def test_past_a_limit_there_is_a_429_that_says_until_when(
    served: Served, wire: GeminiWire, owner: httpx.Client
) -> None:
    holder = _limited(served, owner, questions_day=2, cost_usd_month=50.5)
    for _ in range(2):
        wire.script(SAID, on="generate")
        assert holder.ask().status_code == 200
    for path in ("/v1/query", "/v1/chat/completions"):
        body = {"question": QUESTION, "model": "helix",
                "messages": [{"role": "user", "content": QUESTION}]}  # fmt: skip
        wanted = {"question"} if path == "/v1/query" else {"model", "messages"}
        told = holder.send("POST", path, json={n: v for n, v in body.items() if n in wanted})
        assert told.status_code == 429, told.text
        assert "questions of the day: the limit is 2, until 20" in told.text
        assert 0 < int(told.headers["retry-after"]) <= 86_400
    assert holder.send("GET", "/ask", params={"q": QUESTION}).status_code == 429
    own = holder.send("GET", "/v1/usage/limits").json()["own"]
    assert [(one["measure"], one["period"], one["most"], one["used"]) for one in own] == [
        ("questions", "day", 2, 2), ("cost_usd", "month", 50.5, pytest.approx(2 * COST)),
    ]  # fmt: skip
    listed = owner.get("/v1/usage/limits").json()["all"]
    mine = next(one for one in listed if one["key_id"] == holder.id)
    assert mine["questions_day"] == 2 and mine["cost_usd_month"] == 50.5
    refused = 'helix_usage_limited_total{measure="questions",period="day"}'
    assert refused in owner.get("/metrics").text
    assert owner.put("/v1/usage/limits", json={"key_id": holder.id}).status_code == 200
    wire.script(SAID, on="generate")
    assert holder.ask().status_code == 200  # no limit is left


def test_of_two_at_once_at_the_limit_one_is_let_in(
    served: Served, wire: GeminiWire, owner: httpx.Client
) -> None:
    holder = _limited(served, owner, questions_day=3)
    wire.script(*[SAID] * 3, on="generate")
    statuses: list[int] = []
    barrier = threading.Barrier(8)

    def ask() -> None:
        client = holder.authorized
        barrier.wait()
        statuses.append(client.post("/v1/query", json={"question": QUESTION}).status_code)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * 3 + [429] * 5
    settled(holder, {"questions": 3})


@pytest.mark.parametrize(
    ("limits", "says"),
    [({"tokens_day": 1200}, "tokens of the day: the limit is 1,200"),
     ({"cost_usd_month": COST}, "US dollars of the month")],
    ids=["tokens", "cost"],
)  # fmt: skip
def test_tokens_and_cost_are_limited(
    served: Served, wire: GeminiWire, owner: httpx.Client, limits: dict[str, Any], says: str
) -> None:
    holder = _limited(served, owner, **limits)
    wire.script(SAID, on="generate")
    assert holder.ask().status_code == 200
    told = holder.ask()  # at once: what this process has not written yet counts too
    assert told.status_code == 429 and says in told.text


def test_a_question_that_fails_is_given_back(
    served: Served, wire: GeminiWire, owner: httpx.Client
) -> None:
    holder = _limited(served, owner, questions_day=1)
    wire.script(Failure(400, "INVALID_ARGUMENT"), on="generate")
    assert holder.ask().status_code == 502
    deadline = time.monotonic() + DEADLINE
    while holder.send("GET", "/v1/usage/limits").json()["own"][0]["used"]:
        assert time.monotonic() < deadline
    wire.script(SAID, on="generate")
    assert holder.ask().status_code == 200
    assert holder.ask().status_code == 429


def test_a_limit_of_everybody_gives_way_to_ones_own(
    served: Served, wire: GeminiWire, owner: httpx.Client
) -> None:
    person = served.person("paul", "reader")
    paul = served.browser("paul")
    try:
        assert owner.put("/v1/usage/limits", json={"questions_day": 0}).status_code == 200
        assert paul.post("/v1/query", json={"question": QUESTION}).status_code == 429
        own = {"person_id": person, "questions_day": 5}
        assert owner.put("/v1/usage/limits", json=own).status_code == 200
        wire.script(SAID, on="generate")
        assert paul.post("/v1/query", json={"question": QUESTION}).status_code == 200
    finally:
        owner.put("/v1/usage/limits", json={})
    strange = owner.put("/v1/usage/limits", json={"person_id": 987654, "questions_day": 5})
    assert strange.status_code == 404
    assert owner.put("/v1/usage/limits", json={"questions_day": -1}).status_code == 400


def test_after_midnight_there_is_room_again(
    served: Served, wire: GeminiWire, owner: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = _limited(served, owner, questions_day=1)
    days = iter([date(2026, 3, 30), date(2026, 3, 30), date(2026, 3, 31)])
    for expected in (200, 429, 200):
        day = next(days)
        monkeypatch.setattr("helix.library.usage_limits.today", lambda day=day: day)
        if expected == 200:
            wire.script(SAID, on="generate")
        assert holder.ask().status_code == expected
    # each is told on the day on which it was asked
    query = {"from": "2026-03-01", "to": "2026-03-31", "by": "day"}
    assert totals_of(holder, {"questions": 2, "calls": 2}, **query)["questions"] == 2
    rows = holder.send("GET", "/v1/usage", params=query).json()["rows"]
    assert [(row["day"], row["questions"]) for row in rows] == [
        ("2026-03-30", 1), ("2026-03-31", 1),
    ]  # fmt: skip


def test_switched_off_nothing_is_counted_or_limited(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        number, secret = create_key(connection, "default", "", KEY_SCOPES)
        connection.execute(
            "INSERT INTO usage_limits (tenant_id, key_id, questions_day) VALUES ('default', %s, 0)",
            (number,),
        )
        with live(database_url, auth="keys", usage_days=0) as client:
            holder = Holder(client, number, secret)
            assert holder.ask(FOREIGN).status_code == 200
            told = holder.send("PUT", "/v1/usage/limits", json={"questions_day": 1})
            assert told.status_code == 409 and "HELIX_USAGE_DAYS" in told.text
            assert holder.send("GET", "/v1/usage").json()["rows"] == []
        assert connection.execute("SELECT FROM usage_days").fetchall() == []
        with live(database_url, auth="keys") as client:  # and on again
            assert Holder(client, number, secret).ask(FOREIGN).status_code == 429
