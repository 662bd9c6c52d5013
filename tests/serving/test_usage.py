"""/v1/usage: every entrance counts alike, and limits hold: who sees what, and what it cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import httpx
import psycopg
import pytest

from helix.library.keys import KEY_SCOPES, create_key
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.support.ai_sdk import chat
from tests.support.entrances import ENTRANCES
from tests.support.live_server import live
from tests.support.query_service import QUESTION
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Failure, call_part, calling

MODEL = "gemini-2.5-flash"
COUNTS = {
    "promptTokenCount": 1000, "cachedContentTokenCount": 400, "candidatesTokenCount": 50,
    "thoughtsTokenCount": 150,
}  # fmt: skip
SAID = Answer(("Ask within 30 days of purchase [1].",), usage=COUNTS)
COST = (600 * 0.30 + 400 * 0.03 + 200 * 2.50) / 1_000_000
ONCE = {
    "questions": 1, "refusals": 0, "calls": 1, "unpriced": 0, "input_tokens": 1000,
    "output_tokens": 50, "cached_tokens": 400, "thought_tokens": 150,
    "cost_usd": pytest.approx(COST),
}  # fmt: skip
PASSWORD = "correct horse"
FOREIGN = "Who won the cup in 1978?"
_DEADLINE = 20.0


@dataclass(frozen=True)
class Served:
    """A server with accounts, whose database is ``url``."""

    client: httpx.Client
    url: str

    def key(self, scopes: tuple[str, ...] = ("ask", "read"), **more: Any) -> Holder:
        with psycopg.connect(self.url, autocommit=True) as connection:
            number, secret = create_key(connection, "default", "robot", scopes, **more)
        return Holder(self.client, number, secret)

    def person(self, name: str, role: str) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            person = add_person(connection, f"{name}@example.com", name.title(), hashed(PASSWORD))
            set_role(connection, "default", person, role)
        return person

    def browser(self, name: str) -> httpx.Client:
        address = str(self.client.base_url).rstrip("/")
        browser = httpx.Client(base_url=address, timeout=60, headers={"Origin": address})
        given = {"email": f"{name}@example.com", "password": PASSWORD}
        assert browser.post("/v1/session", json=given).status_code == 200
        return browser


@dataclass(frozen=True)
class Holder:
    """A key, by which requests are sent."""

    client: httpx.Client
    id: int
    secret: str

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.secret}", **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def ask(self, question: str = QUESTION, **more: Any) -> httpx.Response:
        return self.send("POST", "/v1/query", json={"question": question, **more})

    @property
    def authorized(self) -> httpx.Client:
        """A client that shows the key with every request."""
        headers = {"Authorization": f"Bearer {self.secret}"}
        return httpx.Client(base_url=self.client.base_url, timeout=60, headers=headers)


@pytest.fixture(scope="module")
def served(module_database_url: str, stored: dict[str, int], wire: GeminiWire) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("helix.serving.access_recorder._WRITE_SECONDS", 0.02)
        with live(
            module_database_url, auth="accounts", llm="gemini", embedder="gemini",
            gemini_api_key="wire-test-key", gemini_model=MODEL, retrieval_max_distance=0.8,
            key_requests=0, tenant_requests=0, address_requests=0,
        ) as client:  # fmt: skip
            yield Served(client, module_database_url)


def _totals(holder: Holder | httpx.Client, until: dict[str, Any], **query: Any) -> dict[str, Any]:
    """The totals of one's own usage, once they are those of ``until``; else as they are at last."""
    send = holder.send if isinstance(holder, Holder) else holder.request
    deadline = time.monotonic() + _DEADLINE
    while True:
        told = send("GET", "/v1/usage", params=query).json()
        totals: dict[str, Any] = told["totals"]
        if all(totals[name] == value for name, value in until.items()):
            return totals
        if time.monotonic() > deadline:
            return totals
        time.sleep(0.02)


def _settled(holder: Holder, until: dict[str, Any]) -> None:
    """Nothing more comes after ``until``: a vote given last is the last thing that is written."""
    assert {n: _totals(holder, until)[n] for n in until} == until


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
    _settled(holder, expected)


def test_a_conversation_counts_its_turns(served: Served, wire: GeminiWire) -> None:
    holder = served.key()
    made = holder.send("POST", "/v1/conversations", json={}).json()["id"]
    wire.script(SAID, on="generate")
    told = holder.send(
        "POST", f"/v1/conversations/{made}/messages", json={"question": QUESTION, "stream": False}
    )
    assert told.status_code == 200
    _settled(holder, ONCE)
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
    _settled(holder, expected)
    (row,) = holder.send("GET", "/v1/usage", params={"by": "model"}).json()["rows"]
    assert row["model"] == MODEL


def test_what_breaks_off_costs_what_it_has_taken(served: Served, wire: GeminiWire) -> None:
    """A stream that its client leaves, and one that the service cuts: counted with their tokens."""
    holder = served.key()
    cut = Answer(("Ask within ", "30 days"), usage=COUNTS, finish="MAX_TOKENS")
    wire.script(cut, on="generate")
    text = holder.send("GET", "/ask", params={"q": QUESTION}).text
    assert "event: citations" not in text
    _settled(holder, ONCE)
    slow = Answer(tuple(["word "] * 200), usage=COUNTS, delay=0.05)
    wire.script(slow, on="generate")
    with holder.authorized.stream("GET", "/ask", params={"q": QUESTION}) as stream:
        next(stream.iter_lines())
    _settled(holder, {"questions": 2})


def test_the_judge_is_counted_too(served: Served, wire: GeminiWire) -> None:
    holder = served.key()
    verdict = Answer(
        ('{"grounded": true, "unsupported_claims": [], "cited_ids": [1],'
         ' "citations_correct": true, "relevant": true}',), usage=COUNTS,
    )  # fmt: skip
    wire.script(SAID, verdict, on="generate")
    assert holder.ask(verdict=True).json()["verdict"]["grounded"]
    _settled(holder, {"questions": 1, "calls": 2, "input_tokens": 2000})


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
        _totals(limited, {"questions": 1})
    wire.script(SAID, on="generate")
    owner.ask()
    deadline = time.monotonic() + _DEADLINE
    while time.monotonic() < deadline:
        rows = owner.send("GET", "/v1/usage", params={"by": "who,space"}).json()["rows"]
        found = {(r["key_id"], r["space"]): r["questions"] for r in rows}
        if found.get((owner.id, None)):
            break
    assert found[owner.id, "Board"] == found[owner.id, None] == found[limited.id, "Board"] == 1
    only = limited.send("GET", "/v1/usage").json()
    assert not only["everybody"] and {row["key_id"] for row in only["rows"]} == {limited.id}
    assert "all" not in limited.send("GET", "/v1/usage/limits").json()


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
    assert _totals(rita, {"questions": 2})["questions"] == 2  # by her session, and her token
    told = rita.get("/v1/usage", params={"by": "who,key"}).json()
    assert {row["person_id"] for row in told["rows"]} == {reader}
    assert {row["key_id"] for row in told["rows"]} == {None, number}
    _totals(olga, {})
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


def _limited(served: Served, owner: httpx.Client, **limits: Any) -> Holder:
    holder = served.key()
    told = owner.put("/v1/usage/limits", json={"key_id": holder.id, **limits})
    assert told.status_code == 200, told.text
    return holder


@pytest.fixture(scope="module")
def owner(served: Served) -> httpx.Client:
    served.person("otto", "owner")
    return served.browser("otto")


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
    _settled(holder, {"questions": 3})


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
    deadline = time.monotonic() + _DEADLINE
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
    assert _totals(holder, {"questions": 2, "calls": 2}, **query)["questions"] == 2
    rows = holder.send("GET", "/v1/usage", params=query).json()["rows"]
    assert [(row["day"], row["questions"]) for row in rows] == [
        ("2026-03-30", 1), ("2026-03-31", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("query", [{"by": "secret"}, {"from": "2026-02-01", "to": "2026-01-01"},
                                   {"from": "yesterday"}])  # fmt: skip
def test_a_report_that_cannot_be_is_refused(served: Served, query: dict[str, str]) -> None:
    assert served.key().send("GET", "/v1/usage", params=query).status_code == 400


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
