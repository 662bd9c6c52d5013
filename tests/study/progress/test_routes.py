"""/v1/progress over HTTP, and the log behind it: nothing waits for it, nothing fails with it."""

from __future__ import annotations

from datetime import timedelta

import httpx
import psycopg

from helix.library.keys import create_key
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.service_process import eventually

IDLE = timedelta(minutes=15)


def _asked(client: httpx.Client, conversation: str, **headers: str) -> None:
    client.post("/v1/conversations", json={"id": conversation}, headers=headers)
    path = f"/v1/conversations/{conversation}/messages"
    body = {"question": "How long is a refund accepted?", "stream": False}
    answered = client.post(path, json=body, headers=headers)
    assert answered.status_code == 200, answered.text
    rated = {"rating": "up"}
    client.post(f"/v1/answers/{answered.json()['answer_id']}/feedback", json=rated, headers=headers)


def test_what_is_done_is_there_for_the_named_key_alone_and_can_be_deleted(
    database_url: str,
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        secrets = [create_key(connection, "default", name)[1] for name in ("ada", "ada", "", "eve")]
    ada, also_ada, nobody, eve = ({"Authorization": f"Bearer {secret}"} for secret in secrets)
    with live(database_url, auth="keys", progress="on") as client:
        _asked(client, "one", **ada)
        _asked(client, "two", **also_ada)
        _asked(client, "three", **nobody)
        found = client.get("/v1/progress", params={"time_zone": "Asia/Tokyo"}, headers=ada).json()
        assert found["totals"]["actions"] == {
            "answer_rated": 2, "conversation_begun": 2, "question_asked": 2,
        }  # fmt: skip
        assert (found["totals"]["sessions"], found["time_zone"]) == (1, "Asia/Tokyo")
        assert found["streak"]["current"] == 1 and found["days"][-1]["level"] == 1
        detail = client.get(f"/v1/progress/days/{found['today']}?time_zone=Asia/Tokyo", headers=ada)
        assert detail.json()["actions"] == found["totals"]["actions"]
        assert "first_question" in [badge["code"] for badge in detail.json()["badges"]]
        assert client.get("/v1/progress", headers=eve).json()["totals"]["actions"] == {}
        assert client.get("/v1/progress?time_zone=Nowhere", headers=eve).status_code == 400
        assert client.get("/v1/progress/days/2026-02-30", headers=eve).status_code == 400
        assert client.delete("/v1/progress", headers=ada).status_code == 204
        assert client.get("/v1/progress", headers=ada).json()["totals"]["sessions"] == 0
        left = client.get("/v1/progress", headers=nobody).json()["totals"]["actions"]
        assert left["question_asked"] == 1
    with live(database_url, progress="off") as client:
        _asked(client, "four")
        off = client.get("/v1/progress")
        assert off.status_code == 404 and "HELIX_PROGRESS is off" in off.json()["error"]
        total = "SELECT count(*) FROM progress_totals"
        assert eventually(lambda: rows(database_url, total) == [(0,)]), "it is deleted"


def test_nothing_is_kept_of_who_has_not_turned_it_on(database_url: str) -> None:
    count = "SELECT count(*) FROM progress_counts"
    with live(database_url) as client:

        def told() -> tuple[bool, dict[str, int]]:
            found = client.get("/v1/progress").json()
            return found["on"], found["totals"]["actions"]

        _asked(client, "one")
        assert told() == (False, {}) and rows(database_url, count) == [(0,)]
        assert client.patch("/v1/progress", json={"on": True}).status_code == 204
        _asked(client, "two")
        kept = {"answer_rated": 1, "conversation_begun": 1, "question_asked": 1}
        assert told() == (True, kept)
        client.patch("/v1/progress", json={"on": False})
        _asked(client, "three")
        assert told() == (False, kept), "what was kept stays"
        client.patch("/v1/progress", json={"on": True})
        client.delete("/v1/progress")
        _asked(client, "four")
        assert told() == (False, {})
        assert client.patch("/v1/progress", json={"on": "yes"}).status_code == 400


def test_a_question_of_chosen_documents_is_noted_as_one(database_url: str) -> None:
    with live(database_url, progress="on") as client:
        client.post("/v1/conversations", json={"id": "one"})
        for scope in ({}, {"document_ids": [1]}, {"filters": {"tags": ["law"]}}):
            body = {"question": "How long?", "stream": False, **scope}
            asked = client.post("/v1/conversations/one/messages", json=body)
            assert asked.status_code == 200, asked.text
        actions = client.get("/v1/progress").json()["totals"]["actions"]
        assert (actions["question_asked"], actions["question_scoped"]) == (3, 2)
