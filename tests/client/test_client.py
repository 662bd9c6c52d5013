"""The client against the real service: answers, documents and runs, with their types."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from helix.client import (
    AsyncHelix,
    Forbidden,
    Helix,
    Run,
    RunFile,
    SearchOptions,
    Unauthorized,
)
from helix.domain.contract import REFUSAL
from helix.errors import BadRequest, NotFound
from tests.support.cli_runner import helix
from tests.support.live_server import end_run, live, make_ready
from tests.support.repository import ROOT
from tests.support.service_process import environment

QUESTION = "How long do I have to request a refund?"
_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


@pytest.fixture(scope="module")
def database(module_durable_database_url: str) -> str:
    """A database with the sample, labelled."""
    sample = str(ROOT / "samples" / "refund-policy.txt")
    values = _OFFLINE | {"DATABASE_URL": module_durable_database_url}
    assert helix("ingest", sample, "--tag", "policy", **values).returncode == 0
    return module_durable_database_url


@pytest.fixture(scope="module")
def client(database: str) -> Iterator[Helix]:
    with live(database) as server, Helix(str(server.base_url)) as client:
        yield client


def test_passages_are_searched_within_filters(client: Helix, database: str) -> None:
    found = client.search("request a refund", top_k=1)
    (first,) = found.results
    assert found.near_enough and found.json["q"] == "request a refund"
    assert first.title == "Refund Policy" and first.score > 0
    assert {first.snippet[slice(*mark)].lower() for mark in first.marks} & {"refund", "refunds"}
    document = client.document(first.document_id, text=True)
    assert document.text is not None and first.start is not None
    assert document.text[first.start : first.end].strip()
    now = datetime.now(UTC)
    for options, is_found in (
        (SearchOptions(tags=["policy"], document_ids=[first.document_id]), True),
        (SearchOptions(tags=["policy", "other"]), False),
        (SearchOptions(until=now, since="2020-01-01T00:00:00Z"), True),
        (SearchOptions(since=now + timedelta(days=1)), False),
        (SearchOptions(source_prefix="nowhere/"), False),
    ):
        assert bool(client.search("refund", **options).results) == is_found, options
    with pytest.raises(BadRequest, match="document_ids is empty"):
        client.search("refund", document_ids=[])
    with pytest.raises(BadRequest):
        client.search(" ")


def test_an_answer_as_it_streams_is_the_whole_one(client: Helix) -> None:
    with client.ask(QUESTION) as stream:
        pieces = list(stream)
        told = stream.answer()
    assert len(pieces) > 1 and "".join(pieces) == told.answer
    whole = client.query(QUESTION)
    assert whole.answer_id != told.answer_id and told.json["support"] == whole.json["support"]
    assert (told.answer, told.citations, told.support) == (
        whole.answer, whole.citations, whole.support,
    )  # fmt: skip
    (citation,) = whole.citations
    assert citation.document_id is not None
    document = client.document(citation.document_id, text=True)
    assert document.text is not None and citation.quote
    assert document.text[citation.start : citation.end] == citation.quote
    assert (document.title, document.tags) == ("Refund Policy", ("policy",))
    statement = whole.support.statements[0]
    assert statement.supported and statement.spans[0].quote == citation.quote
    assert whole.support.ratio == 1.0 and not whole.abstained


def test_the_frames_are_those_that_were_sent(client: Helix) -> None:
    with client.ask(QUESTION) as stream:
        frames = list(stream.frames())
        told = stream.answer()
    names = [frame.event for frame in frames]
    assert names == ["token"] * (len(names) - 2) + ["citations", "done"]
    assert "".join(frame.json()["t"] for frame in frames[:-2]) == told.answer
    assert frames[-2].json() == told.json["citations"]


def test_a_question_is_narrowed(client: Helix) -> None:
    (document,) = client.documents("refund")
    assert not client.query(QUESTION, document_ids=[document.id], top_k=2).abstained
    assert not client.query(QUESTION, tags=["policy"], filters={"source_prefix": "/"}).abstained
    refused = client.query(QUESTION, tags=["none"])
    assert (refused.answer, refused.reason) == (REFUSAL, "filtered_empty")
    assert refused.reason_text and refused.support.ratio is None
    told = client.query(QUESTION, conversation_id="c-1", debug=True)
    assert told.conversation_id == "c-1" and told.json["debug"]["candidates"]


def test_an_upload_is_followed_to_its_end(client: Helix, database: str, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Bicycles are kept in the cellar.")
    sent = client.upload(note, ("other.txt", b"Keys are kept upstairs."), tags=["house"])
    (first, second), run_id = sent.document_ids, sent.run_id
    assert run_id is not None
    assert client.upload(note).documents[0]["duplicate"]
    with psycopg.connect(database, autocommit=True) as sql:
        changes = client.follow(run_id)
        seen = [next(changes)]  # while it is under way
        for document_id, text in ((first, note.read_text()), (second, "Keys are kept upstairs.")):
            make_ready(sql, document_id, text, [(0, len(text))])
        end_run(sql, run_id)
        seen += list(changes)
    assert "queued" in {each.status for each in seen if isinstance(each, RunFile)}
    ended = client.wait(run_id)
    assert ended == seen[-1] == Run(run_id, "done", {"added": 2})
    assert {each.id for each in client.documents(tag="house", limit=1)} == {first, second}
    for document_id in (first, second):
        client.delete(document_id)
    with pytest.raises(NotFound, match=f"there is no document {first}"):
        client.document(first)


def test_what_is_wrong_with_a_request_is_said(client: Helix) -> None:
    with pytest.raises(BadRequest, match="question"):
        client.query(" ")
    with pytest.raises(BadRequest, match="question"):
        client.ask(" ")
    with pytest.raises(BadRequest, match="is no address"):
        Helix("localhost:8080")


def test_a_key_opens_its_own_tenant(database: str) -> None:
    values = _OFFLINE | {"DATABASE_URL": database}
    key = helix("keys", "create", "--tenant", "default", **values).stdout.strip()
    with live(database, auth="keys") as server:
        address = str(server.base_url)
        with Helix(address) as stranger, pytest.raises(Unauthorized) as refused:
            stranger.query(QUESTION)
        with Helix(address, key, tenant="another") as wrong, pytest.raises(Forbidden):
            list(wrong.documents())
        with Helix(address, key) as own:
            assert len(own.query(QUESTION).citations) == 1
            assert key not in repr(own) + str(refused.value)


async def test_it_is_the_same_for_an_event_loop(database: str) -> None:
    with live(database) as server:
        async with AsyncHelix(str(server.base_url), tenant="default") as client:
            async with client.ask(QUESTION) as stream:
                told = "".join([piece async for piece in stream])
                assert (await stream.answer()).answer == told
            async with await asyncio.create_task(client.ask(QUESTION)) as stream:
                assert (await stream.answer()).answer == told
            both = await asyncio.gather(*(client.query(QUESTION) for _ in range(2)))
            assert {each.answer for each in both} == {told}
            (document,) = [each async for each in client.documents("refund")]
            assert (await client.document(document.id)).chunks == document.chunks


def test_event_loops_may_follow_each_other(database: str) -> None:
    with live(database) as server:
        client = AsyncHelix(str(server.base_url))
        told = {asyncio.run(client.query(QUESTION)).answer for _ in range(3)}
        assert len(told) == 1
        for _ in range(2):
            asyncio.run(client.aclose())
        with pytest.raises(BadRequest, match="closed"):
            asyncio.run(client.query(QUESTION))


def test_event_loops_may_run_beside_each_other(database: str) -> None:
    with live(database) as server, ThreadPoolExecutor(4) as threads:
        client = AsyncHelix(str(server.base_url))

        async def asked() -> list[str]:
            return [(await client.query(QUESTION)).answer for _ in range(5)]

        told = list(threads.map(lambda _: asyncio.run(asked()), range(4)))
        assert told == [told[0]] * 4


FORKED = """
import os, signal, sys
from helix.client import Helix
client = Helix(sys.argv[1])
told = client.query(sys.argv[2])
if os.fork() == 0:
    signal.alarm(60)
    os._exit(client.query(sys.argv[2]).answer != told.answer)
_, status = os.wait()
sys.exit(status or client.query(sys.argv[2]).answer != told.answer)
"""


THREADS_OF_FORKED = """
import asyncio, os, signal, sys, threading
from helix.client.blocking import EventLoop
loop = EventLoop()
sys.setswitchinterval(1e-6)
for _ in range(30):
    if os.fork() == 0:
        signal.alarm(10)
        threads = [threading.Thread(target=lambda: loop.run(asyncio.sleep(0))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os._exit(0)
    if os.wait()[1]:
        sys.exit("a thread waits for ever")
"""


def test_threads_of_a_forked_process_may_all_be_the_first_to_ask() -> None:
    command = [sys.executable, "-c", THREADS_OF_FORKED]
    done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_forked_process_asks_with_the_client_of_its_parent(database: str) -> None:
    with live(database) as server:
        command = [sys.executable, "-c", FORKED, str(server.base_url), QUESTION]
        done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_it_loads_little() -> None:
    heavy = ("llama_index.core", "numpy", "pydantic", "psycopg", "fastapi", "google", "wordllama")
    told = f"[name for name in {heavy!r} if name in sys.modules]"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; from helix.client import Helix; print({told})"],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "[]\n", done.stdout + done.stderr
