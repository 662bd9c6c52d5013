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
    with live(database_url, auth="keys") as client:
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
