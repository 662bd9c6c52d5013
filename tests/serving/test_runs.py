"""Runs: what workers write, what followers are told, and stopping; the worker is played here."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from types import SimpleNamespace
from typing import Any, cast

import httpx
import psycopg
import pytest
from starlette.requests import Request
from starlette.types import Message

from helix.domain.scope import DEFAULT_TENANT, WHOLE, Reach
from helix.library.run_files import NewFile, add_files, fail_file, set_file
from helix.library.run_progress import Event
from helix.library.runs import (
    LIVE,
    begin_run,
    cancel_run,
    create_run,
    find_open_run,
    finish_run,
    queued_runs,
    set_stage,
    should_stop,
    stop_for_fault,
)
from helix.services import Services
from helix.serving.caller import Caller
from helix.serving.routes import runs as routes
from helix.storage.stored_bytes import keep_bytes
from tests.support.live_server import emptied, live

Told = tuple[str, int, dict[str, Any]]


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url) as client:
        yield client


@pytest.fixture
def sql(module_database_url: str) -> Iterator[psycopg.Connection]:
    with emptied(module_database_url) as connection:
        yield connection


def _run(sql: psycopg.Connection, files: int = 2, status: str = "running") -> int:
    run_id = create_run(sql, "paths", {"paths": ["docs"]})
    add_files(sql, run_id, [NewFile(f"docs/{n}.txt", size=n) for n in range(files)])
    sql.execute("UPDATE runs SET status = %s WHERE id = %s", (status, run_id))
    return run_id


def _upload(client: httpx.Client, data: bytes) -> tuple[int, int]:
    answer = client.post("/v1/documents", files={"file": ("a.txt", data)}).json()
    return answer["run_id"], answer["documents"][0]["id"]


def _events(lines: Iterator[str]) -> Iterator[Told]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "data" in fields:
            yield fields["event"], int(fields["id"]), json.loads(fields["data"])
            fields = {}


def _follow(client: httpx.Client, run_id: int, after: int | None = None) -> list[Told]:
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    with client.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        return list(_events(response.iter_lines()))


def _statuses(sql: psycopg.Connection, run_id: int) -> list[str]:
    rows = sql.execute("SELECT status FROM run_files WHERE run_id = %s ORDER BY n", (run_id,))
    return [row[0] for row in rows]


def test_queued_runs_are_for_workers_of_their_machine_oldest_first(
    sql: psycopg.Connection,
) -> None:
    anywhere = create_run(sql, "upload")
    here = create_run(sql, "paths", {"paths": ["a"], "title": None}, key="k", host="here")
    there = create_run(sql, "paths", host="there")
    assert find_open_run(sql, "k") == here and find_open_run(sql, "other") is None
    assert queued_runs(sql, "here") == [(anywhere, None), (here, "here")]
    run = begin_run(sql, here)
    assert run is not None
    assert (run.kind, run.options) == ("paths", {"paths": ["a"], "title": None})
    assert queued_runs(sql, "here") == [(anywhere, None)]
    assert find_open_run(sql, "k") == here
    assert sql.execute("SELECT status FROM runs WHERE id = %s", (there,)).fetchone() == ("queued",)


def test_files_are_numbered_on_and_a_source_is_there_once(sql: psycopg.Connection) -> None:
    run_id = _run(sql, 2)
    add_files(sql, run_id, [NewFile("docs/1.txt"), NewFile("more.txt", origin={"url": "u"})])
    rows = sql.execute("SELECT source_uri FROM run_files WHERE run_id = %s ORDER BY n", (run_id,))
    assert [row[0] for row in rows] == ["docs/0.txt", "docs/1.txt", "more.txt"]


def test_a_run_with_its_counts_and_files_failed_first(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    run_id = _run(sql, 5)
    assert set_stage(sql, run_id, "scan", ignored=3)
    set_file(sql, run_id, 1, "reading", done=3, total=47)
    set_file(sql, run_id, 2, "embedding", done=2, total=5)
    set_file(sql, run_id, 4, "added", chunks=9, warnings=["page 3: a scan"])
    fail_file(sql, run_id, 3, "broken")
    run = client.get(f"/v1/runs/{run_id}", params={"limit": 2}).json()
    assert (run["status"], run["stage"], run["ignored"]) == ("running", "scan", 3)
    assert run["counts"] == {"queued": 1, "reading": 1, "embedding": 1, "added": 1, "failed": 1}
    assert (run["total"], run["chunks"]) == (5, 9)
    assert [(f["n"], f["stage"], f["reason"]) for f in run["files"]] == [
        (3, "", "broken"), (0, "", ""),
    ]  # fmt: skip
    rest = client.get(f"/v1/runs/{run_id}", params={"after": run["next"]}).json()
    assert [(f["n"], f["stage"], f["chunks"]) for f in rest["files"]] == [
        (1, "read page 3 of 47", 0), (2, "embed batch 2 of 5", 0), (4, "", 9),
    ]  # fmt: skip
    assert rest["files"][2]["warnings"] == ["page 3: a scan"] and rest["next"] is None


def test_the_list_of_runs(client: httpx.Client, sql: psycopg.Connection) -> None:
    ids = [_run(sql, 1) for _ in range(5)]
    finish_run(sql, ids[0], "done")
    first = client.get("/v1/runs", params={"limit": 3}).json()
    second = client.get("/v1/runs", params={"limit": 3, "after": first["next"]}).json()
    assert [run["id"] for run in first["runs"] + second["runs"]] == ids[::-1]
    assert second["next"] is None
    done = client.get("/v1/runs", params={"status": "done"}).json()["runs"]
    assert [run["id"] for run in done] == ids[:1]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/runs/987654", 404), ("/v1/runs/987654/events", 404), ("/v1/runs/x", 400),
     ("/v1/runs?status=x", 400), ("/v1/runs?after=x", 400)],
)  # fmt: skip
def test_what_cannot_be_given(client: httpx.Client, path: str, status: int) -> None:
    assert client.get(path).status_code == status
    assert client.post("/v1/runs/987654/cancel").status_code == 404


def test_a_cancelled_queue_ends_at_once(client: httpx.Client, sql: psycopg.Connection) -> None:
    run_id, document_id = _upload(client, b"Never to be read.")
    assert client.post(f"/v1/runs/{run_id}/cancel").json() == {"id": run_id, "status": "cancelled"}
    assert _statuses(sql, run_id) == ["cancelled"]
    document = client.get(f"/v1/documents/{document_id}").json()
    assert (document["status"], document["error"]) == ("failed", "cancelled")
    assert begin_run(sql, run_id) is None
    assert client.post(f"/v1/runs/{run_id}/cancel").json()["status"] == "cancelled"
    again, same = _upload(client, b"Never to be read.")  # and it may be tried again
    assert again != run_id and same == document_id


def test_a_running_one_is_asked_to_stop(client: httpx.Client, sql: psycopg.Connection) -> None:
    run_id, document_id = _upload(client, b"Half read.")
    assert begin_run(sql, run_id) is not None
    assert not should_stop(sql, run_id)
    sql.execute("LISTEN helix_runs")
    sql.execute("SELECT pg_advisory_lock_shared(%s, 1)", (LIVE,))  # a worker is alive
    assert client.post(f"/v1/runs/{run_id}/cancel").json()["status"] == "cancelling"
    sql.execute("SELECT pg_advisory_unlock_shared(%s, 1)", (LIVE,))
    (heard,) = sql.notifies(timeout=60, stop_after=1)
    assert heard.payload == str(run_id)
    assert should_stop(sql, run_id) and not set_stage(sql, run_id, "embed")
    assert set_file(sql, run_id, 0, "reading")  # until it has stopped it tells where it is
    with sql.transaction():
        assert finish_run(sql, run_id, "cancelled")
    assert not finish_run(sql, run_id, "done")
    assert not set_file(sql, run_id, 0, "added")
    assert client.get(f"/v1/runs/{run_id}").json()["counts"] == {"cancelled": 1}
    assert client.get(f"/v1/documents/{document_id}").json()["status"] == "failed"


@pytest.mark.parametrize(("error", "end"), [("", "cancelled"), ("the key is refused", "failed")])
def test_a_run_whose_worker_died_while_stopping_ends_when_it_is_cancelled_again(
    client: httpx.Client, sql: psycopg.Connection, error: str, end: str
) -> None:
    run_id, _ = _upload(client, b"Nobody is left to stop this.")
    assert begin_run(sql, run_id) is not None
    if error:
        stop_for_fault(sql, run_id, error)
    else:
        sql.execute("UPDATE runs SET status = 'cancelling'")
    assert client.post(f"/v1/runs/{run_id}/cancel").json()["status"] == end
    assert _statuses(sql, run_id) == [end]
    assert client.get(f"/v1/runs/{run_id}").json()["error"] == error


def test_a_failed_new_version_leaves_the_document_readable(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    run_id, document_id = _upload(client, b"To be broken.")
    sql.execute("UPDATE documents SET status = 'ready'")
    assert fail_file(sql, run_id, 0, "no text")
    assert not fail_file(sql, run_id, 0, "again")
    assert client.get(f"/v1/documents/{document_id}").json()["status"] == "ready"


def test_a_file_that_has_ended_lets_go_of_its_bytes(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    for content_hash in "abc":
        keep_bytes(sql, DEFAULT_TENANT, content_hash, b"x")
    run_id = create_run(sql, "paths")
    add_files(sql, run_id, [NewFile(f"{h}.txt", file_hash=h, content_hash=h) for h in "abc"])
    set_file(sql, run_id, 0, "added")
    set_file(sql, run_id, 1, "reading")
    fail_file(sql, run_id, 2, "broken")
    left = sql.execute("SELECT content_hash FROM files").fetchall()
    assert left == [("b",)]
    cancel_run(sql, run_id)
    assert sql.execute("SELECT content_hash FROM files").fetchall() == []
    _, document_id = _upload(client, b"Kept, for its document refers to it.")
    set_file(sql, client.get("/v1/runs").json()["runs"][0]["id"], 0, "failed")
    assert client.get(f"/v1/documents/{document_id}/file").status_code == 200


def test_a_follower_hears_each_step_in_order_and_then_the_end(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    run_id = _run(sql, 1)
    heard: list[Told] = []
    with client.stream("GET", f"/v1/runs/{run_id}/events") as response:
        events = _events(response.iter_lines())

        def until(stage: str) -> None:
            for event in events:
                heard.append(event)
                if stage in (event[2]["stage"], event[2]["status"]):
                    return

        until("queued")
        set_stage(sql, run_id, "scan")
        until("scan")
        set_file(sql, run_id, 0, "reading", done=1, total=2)
        until("read page 1 of 2")
        set_file(sql, run_id, 0, "embedding", done=0, total=3)
        until("embed batch 1 of 3")
        set_file(sql, run_id, 0, "embedding", done=2, total=3)
        until("embed batch 2 of 3")
        set_file(sql, run_id, 0, "writing")
        until("write")
        set_file(sql, run_id, 0, "added", chunks=7)
        finish_run(sql, run_id, "done")
        heard += events  # to the end of the stream
    assert [data["chunks"] for name, _, data in heard if name == "file"][-1] == 7
    assert heard[-1][0] == "run"
    assert (heard[-1][2]["status"], heard[-1][2]["counts"]) == ("done", {"added": 1})
    ids = [number for _, number, _ in heard]
    assert ids == sorted(ids)

    middle = heard[len(heard) // 2][1]
    resumed = _follow(client, run_id, middle)
    assert all(number > middle for _, number, _ in resumed)
    assert [e[2]["status"] for e in resumed] == ["added", "done"]
    ended = _follow(client, run_id, heard[-1][1])
    assert [(name, data["status"]) for name, _, data in ended] == [("run", "done")]


def test_the_run_itself_streams_where_an_event_stream_is_asked_for(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    run_id = _run(sql, 1)
    finish_run(sql, run_id, "failed", "the folder is gone")
    response = client.get(f"/v1/runs/{run_id}", headers={"Accept": "text/event-stream"})
    told = list(_events(iter(response.text.splitlines())))
    assert [name for name, _, _ in told] == ["file", "run"]
    assert told[0][2]["reason"] == told[1][2]["error"] == "the folder is gone"
    bad = client.get(f"/v1/runs/{run_id}/events", headers={"Last-Event-ID": "x"})
    assert bad.status_code == 400


def test_a_change_that_commits_late_is_heard_too(
    client: httpx.Client, sql: psycopg.Connection, module_database_url: str
) -> None:
    """Its version is smaller than one that the follower has seen."""
    run_id = _run(sql, 2)
    with (
        psycopg.connect(module_database_url) as slow,
        client.stream("GET", f"/v1/runs/{run_id}/events") as response,
    ):
        events = _events(response.iter_lines())
        slow.execute("SELECT 1")  # opens the transaction
        set_file(slow, run_id, 0, "added", chunks=1)  # not committed
        set_file(sql, run_id, 1, "added", chunks=2)
        seen: list[Told] = []
        for event in events:
            seen.append(event)
            if event[0] == "file" and event[2]["chunks"] == 2:
                break
        late_id = seen[-1][1]
        slow.commit()
        finish_run(sql, run_id, "done")
        seen += events
    added = [data["n"] for name, _, data in seen if name == "file" and data["status"] == "added"]
    assert added == [1, 0]  # each once
    # one who had left with what was seen before that commit hears of it as well
    resumed = [data["n"] for name, _, data in _follow(client, run_id, late_id) if name == "file"]
    assert 0 in resumed


def test_a_run_of_more_files_than_one_reading_takes(
    client: httpx.Client, sql: psycopg.Connection
) -> None:
    run_id = create_run(sql, "paths")
    sql.execute(
        "INSERT INTO run_files (run_id, n, source_uri, status)"
        " SELECT %s, n, 'f' || n, 'added' FROM generate_series(0, 2499) n", (run_id,),
    )  # fmt: skip
    finish_run(sql, run_id, "done")
    told = _follow(client, run_id)
    assert sorted(data["n"] for name, _, data in told if name == "file") == list(range(2500))
    assert [name for name, _, _ in told].count("run") == 1 and told[-1][0] == "run"


def test_many_followers_while_two_workers_write(
    client: httpx.Client, sql: psycopg.Connection, module_database_url: str
) -> None:
    run_id = _run(sql, 40)
    heard: list[list[Told]] = []

    def listen() -> None:
        heard.append(_follow(client, run_id))

    def work(numbers: range) -> None:
        with psycopg.connect(module_database_url) as connection:
            for n in numbers:
                set_file(connection, run_id, n, "reading", done=1, total=1)
                connection.commit()
                set_file(connection, run_id, n, "added", chunks=1)
                connection.commit()

    followers = [threading.Thread(target=listen) for _ in range(4)]
    workers = [threading.Thread(target=work, args=(range(k, 40, 2),)) for k in range(2)]
    for thread in followers + workers:
        thread.start()
    for thread in workers:
        thread.join()
    finish_run(sql, run_id, "done")
    for thread in followers:
        thread.join(timeout=60)
    assert len(heard) == 4
    for told in heard:
        last = {data["n"]: data["status"] for name, _, data in told if name == "file"}
        assert last == dict.fromkeys(range(40), "added")
        assert told[-1][2]["counts"] == {"added": 40}


async def test_changes_are_closed_where_the_client_left_before_the_first_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed = asyncio.Event()

    async def changes(*_: object) -> AsyncGenerator[Event, None]:
        try:
            yield Event("run", 1, {"status": "running"})
            yield Event("run", 2, {"status": "done"})
        finally:
            closed.set()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await asyncio.Event().wait()  # nobody takes the first byte

    monkeypatch.setattr(routes, "follow", changes)
    unlimited = SimpleNamespace(limits=SimpleNamespace(drawn={}, followed={}))
    scope = {"type": "http", "method": "GET", "headers": [], "asgi": {"version": "3.0"},
             "state": {"overload": unlimited}}  # fmt: skip
    caller = Caller(cast("Services", SimpleNamespace(library=Unused())), "default", keyed=False)
    response = await routes.events(Request(scope), caller, 7)
    await response(scope, receive, send)
    assert closed.is_set()


class Unused:
    """Stands in for the library of a route whose reads are replaced."""

    def of(self, tenant: str, reach: Reach = WHOLE) -> Unused:
        return self
