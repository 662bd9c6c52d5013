"""Progress of quizzes, workshops, decks and maps: noted as badges ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb

from helix.study.repetition import reviewed
from tests.study.conftest import made
from tests.support.live_server import live
from tests.support.query_service import a_store
from tests.support.study_texts import store_study_texts
from tests.support.wire.gemini import gemini_wire


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with gemini_wire():  # for the embedder
        with a_store(module_database_url) as store:
            store_study_texts(store.of("halden"))
        with live(
            module_database_url, embedder="gemini", gemini_api_key="wire-test-key", progress="on",
        ) as client:  # fmt: skip
            client.params = client.params.merge({"tenant_id": "halden"})
            yield client


def _done(client: httpx.Client) -> dict[str, int]:
    actions: dict[str, int] = client.get("/v1/progress").json()["totals"]["actions"]
    return actions


def _take(client: httpx.Client, quiz: dict[str, Any], *, wrong: int) -> None:
    """Answer a quiz, so many of its questions wrong."""
    attempt = client.post(f"/v1/study/{quiz['id']}/attempts").json()
    address = f"/v1/study/attempts/{attempt['id']}"
    for nth, item in enumerate(quiz["items"]):
        is_choice = item["kind"] == "choice"
        body = {"item_id": item["id"], "answer": 0 if is_choice else True}
        key = client.post(f"{address}/answers", json=body).json()["key"]
        other = (key + 1) % 4 if is_choice else not key
        client.post(f"{address}/answers", json=body | {"answer": other if nth < wrong else key})
    client.post(f"{address}/finish")


def test_a_perfect_score_and_a_passed_advanced_quiz(
    client: httpx.Client, module_database_url: str
) -> None:
    advanced, easy = (
        made(client, module_database_url, "quiz", count=5, difficulty=level)
        for level in ("advanced", "easy")
    )
    assert len(advanced["items"]) == len(easy["items"]) == 5
    for quiz, wrong, noted in (
        (advanced, 2, (None, None)),  # three of five is not passed
        (advanced, 1, (None, 1)),
        (easy, 1, (None, 1)),
        (easy, 0, (1, 1)),
        (advanced, 0, (2, 2)),
    ):
        _take(client, quiz, wrong=wrong)
        done = _done(client)
        found = (done.get("quiz_perfect"), done.get("quiz_advanced_passed"))
        assert found == noted, (quiz["difficulty"], wrong)
    assert _done(client)["quiz_taken"] == 5


def test_a_lesson_and_a_workshop_are_finished_and_a_map_is_saved(
    client: httpx.Client, module_database_url: str
) -> None:
    workshop = made(client, module_database_url, "workshop", count=3)
    lessons = workshop["items"]
    for nth, lesson in enumerate(lessons, 1):
        client.post(f"/v1/study/{workshop['id']}/lessons/{lesson['id']}/done")
        done = _done(client)
        assert done["lesson_finished"] == nth
        assert done.get("workshop_finished") == (1 if nth == len(lessons) else None)
    drawn = made(client, module_database_url, "map")
    assert client.post(f"/v1/study/{drawn['id']}/drawn").status_code == 204
    assert client.get(f"/v1/study/{drawn['id']}/export?format=svg").status_code == 200
    assert _done(client)["map_exported"] == 2
    client.get(f"/v1/study/{workshop['id']}/export?format=markdown")
    refused = client.post(f"/v1/study/{workshop['id']}/drawn")
    assert refused.json() == {"error": "a set of kind workshop is not drawn: only maps are"}
    assert _done(client)["map_exported"] == 2
    assert client.post("/v1/study/999999/drawn").status_code == 404


def test_a_deck_is_mastered_by_the_review_that_makes_its_last_card_well_known(
    client: httpx.Client, module_database_url: str
) -> None:
    deck = made(client, module_database_url, "cards", count=4)
    *known, last = (card["id"] for card in deck["items"])
    for card in known:
        _reviewed_before(module_database_url, card, (0, 2, 13, 59))
    _reviewed_before(module_database_url, last, (0, 2))

    def review(card: int) -> bool:
        address = f"/v1/study/cards/{card}/review"
        told: bool = client.post(address, json={"rating": "good"}).json()["deck_mastered"]
        return told

    assert not review(known[0]), "the last one is not known yet"
    assert "deck_mastered" not in _done(client)
    _reviewed_before(module_database_url, last, (0, 2, 13))  # due in 46 days
    assert not review(last), "it was known before"
    _reviewed_before(module_database_url, last, (0, 2))  # due in 11 days, and now is later
    assert review(last)
    assert _done(client)["deck_mastered"] == 1


def _reviewed_before(url: str, card: int, days: tuple[int, ...]) -> None:
    """Give a card the state of good reviews on these days, of which the last was a month ago."""
    first = datetime.now(UTC) - timedelta(days=30 + days[-1])
    stored: dict[str, Any] | None = None
    for day in days:
        after = reviewed(stored, card, "good", first + timedelta(days=day), 0.9)
        stored = dict(after.to_dict())
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO study_cards (tenant_id, item_id, learner, card, due_at)"
            " VALUES ('halden', %(id)s, '', %(card)s, %(due)s)"
            " ON CONFLICT (tenant_id, item_id, learner) DO UPDATE SET card = excluded.card",
            {"id": card, "card": Jsonb(stored), "due": after.due},
        )
