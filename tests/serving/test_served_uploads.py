"""A server with a worker of its own: from an upload over its progress to an answer, and its end."""

from __future__ import annotations

import hashlib
import json
import signal
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.support.fake_embedder import rows
from tests.support.sample_documents import Heading, docx, pdf, xlsx
from tests.support.server_processes import children, ended, served, website
from tests.support.service_process import Service, eventually
from tests.support.web_site import Website, page
from tests.support.wire.gemini import GeminiWire

pytestmark = pytest.mark.processes

OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline", "HELIX_WORKERS": "1"}
PAID = {**OFFLINE, "HELIX_EMBEDDER": "gemini", "RETRIEVAL_MAX_DISTANCE": "0.95"}
"""An embedder whose vectors are kept in the cache, and a ceiling for those of the wire."""
REFUSAL = "I don't have that in the provided documents."
FILES = {
    "harbour.pdf": pdf(
        "This report is about the harbour.",
        "The crane operators' pension fund was moved to a trust in Rotterdam.",
        "The quay wall was repaired with granite blocks.",
    ),
    "travel.docx": docx(
        Heading("Travel"), Heading("Trains", 2), "Book trains two weeks ahead.",
        Heading("Hotels", 2), "A hotel room may cost 140 euros a night at most.",
    ),
    "leaders.xlsx": xlsx(
        {"Expeditions": [("Expedition", "Leader"), ("Polar balloon", "Salomon Andersson")]}
    ),
}  # fmt: skip
STEPS = ("queued", "reading", "embedding", "writing", "added")
GATES = """
CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext(TG_ARGV[0] || (to_jsonb(NEW) ->> TG_ARGV[0])));
    RETURN NEW;
END $$;
CREATE TRIGGER gate BEFORE UPDATE OF status ON run_files FOR EACH ROW
    WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION gate('status');
CREATE TRIGGER gate BEFORE UPDATE OF stage ON runs FOR EACH ROW
    WHEN (NEW.stage <> OLD.stage) EXECUTE FUNCTION gate('stage');
"""
LEFT = """
SELECT (SELECT count(*) FROM documents WHERE id = %s),
       (SELECT count(*) FROM chunks WHERE document_id = %s),
       (SELECT count(*) FROM files WHERE content_hash = %s),
       (SELECT count(*) FROM embedding_cache WHERE key = ANY(%s))
"""
"""The rows of a document: itself, its chunks, its bytes, and the vectors paid for it."""


@pytest.fixture(scope="module")
def site() -> Iterator[Website]:
    body = "<h2>Feeding</h2>The bees are fed with sugar dough in winter.<h2>Felt</h2>Wrap them."
    with website({"/bees": page("Beekeeping", body)}) as site:
        yield site


@pytest.fixture(scope="module")
def server(
    module_database_url: str, site: Website, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with GeminiWire() as wire:
        values = {
            "DATABASE_URL": module_database_url, "HELIX_ALLOW_HOSTS": site.host,
            "GOOGLE_GEMINI_BASE_URL": wire.base_url, "GEMINI_API_KEY": "test-key", **PAID,
        }  # fmt: skip
        with served(tmp_path_factory.mktemp("server") / "log", **values) as server:
            yield server


@pytest.fixture
def client(server: Service) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


def upload(client: httpx.Client, *names: str) -> httpx.Response:
    return client.post("/v1/documents", files=[("file", (name, FILES[name])) for name in names])


def follow(
    client: httpx.Client, run_id: int, after: str = ""
) -> Generator[tuple[str, str, Any], None, None]:
    """(id, name, data) of the run's events until the server ends them."""
    headers = {"Last-Event-ID": after} if after else {}
    with client.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as stream:
        assert stream.status_code == 200
        fields: dict[str, str] = {}
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if line:
                fields[name] = value
            elif "data" in fields:
                yield fields["id"], fields["event"], json.loads(fields["data"])
                fields = {}


def followed(client: httpx.Client, run_id: int) -> dict[str, Any]:
    """The run and its files, once it has ended."""
    *_, (_, name, run) = follow(client, run_id)
    assert name == "run"
    assert run["status"] == "done"
    found: dict[str, Any] = client.get(f"/v1/runs/{run_id}").json()
    return found


def ask(client: httpx.Client, question: str) -> tuple[str, list[dict[str, Any]]]:
    """The answer, and the chunks that it cites."""
    *tokens, last = client.get("/ask", params={"q": question}).text.strip().split("\n\n")
    answer = "".join(json.loads(frame.removeprefix("data: "))["t"] for frame in tokens)
    cited = json.loads(last.removeprefix("event: citations\ndata: "))
    return answer, [client.get(f"/v1/chunks/{one['chunk_id']}").json() for one in cited]


class Gates:
    """Locks that hold a run's files before their next step until its follower saw the last one."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        connection.execute(GATES)
        for name in ("stagefiles", *(f"status{step}" for step in STEPS[1:])):
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (name,))

    def open(self, name: str) -> None:
        self._connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", (name,))


class Seen:
    """The events that a follower got: each file's statuses in order, and every stage in words."""

    def __init__(self, count: int) -> None:
        self.statuses: dict[int, list[str]] = {n: [] for n in range(count)}
        self.stages: set[str] = set()
        self.last = ""

    def take(self, event: tuple[str, str, Any]) -> None:
        self.last, name, data = event
        self.stages.add(data["stage"])
        if name == "file" and data["status"] not in self.statuses[data["n"]][-1:]:
            self.statuses[data["n"]].append(data["status"])

    def all_at(self, step: str) -> bool:
        return all(statuses[-1:] == [step] for statuses in self.statuses.values())


def test_an_upload_is_followed_step_by_step_to_a_cited_answer(
    client: httpx.Client, module_database_url: str
) -> None:
    steps = deque(STEPS)
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        gates = Gates(connection)
        answered = upload(client, *FILES)
        assert answered.status_code == 202, answered.text
        run_id = answered.json()["run_id"]
        assert {d["status"] for d in answered.json()["documents"]} == {"processing"}
        seen = Seen(len(FILES))
        while len(steps) > 1:  # once more from the last event, when all files are being read
            with closing(follow(client, run_id, seen.last)) as events:
                for event in events:
                    seen.take(event)
                    if event[1] == "run" and event[2]["stage"] == "scan":
                        gates.open("stagefiles")
                    if len(steps) > 1 and seen.all_at(steps[0]):
                        gates.open(f"status{steps[1]}")
                        if steps.popleft() == "reading":
                            break
    assert list(seen.statuses.values()) == [list(STEPS)] * len(FILES)
    assert {"scan", "files", "write"} <= seen.stages
    assert any(stage.startswith("read") for stage in seen.stages)
    assert any(stage.startswith("embed batch") for stage in seen.stages)
    ready = client.get("/v1/documents", params={"status": "ready"}).json()["documents"]
    assert {document["title"] for document in ready} == {"Harbour", "Travel", "Leaders"}

    for question, fact, where in (
        ("Where was the pension fund of the crane operators moved to?", "Rotterdam", "page 2"),
        ("Who was the leader of the polar balloon expedition?", "Andersson",
         "sheet Expeditions, row 2"),
    ):  # fmt: skip
        answer, (chunk, *_) = ask(client, question)
        assert fact in answer and fact in chunk["content"]
        assert chunk["label"] == where


@pytest.mark.processes
def test_the_same_upload_again_starts_nothing_and_a_deletion_leaves_nothing(
    client: httpx.Client, module_database_url: str
) -> None:
    first = upload(client, "travel.docx")
    if first.json()["run_id"] is not None:
        followed(client, first.json()["run_id"])
    again = upload(client, "travel.docx")
    assert (again.status_code, again.json()["run_id"]) == (200, None)
    (document,) = again.json()["documents"]
    assert (document["duplicate"], document["status"]) == (True, "ready")

    question = "What may a hotel room cost a night?"
    answer, (chunk, *_) = ask(client, question)
    assert "140 euros" in answer and chunk["heading_path"] == ["Travel", "Hotels"]
    digest = hashlib.sha256(FILES["travel.docx"]).hexdigest()
    key = "SELECT metadata_ ->> 'embedding_key' FROM chunks WHERE document_id = %s"
    keys = [key for (key,) in rows(module_database_url, key, document["id"])]

    def left() -> list[tuple[int, ...]]:
        values = (document["id"], document["id"], digest, keys)
        return rows(module_database_url, LEFT, *values)

    assert left() == [(1, 2, 1, 2)]
    assert client.delete(f"/v1/documents/{document['id']}").status_code == 204
    assert left() == [(0, 0, 0, 0)]
    assert client.get(f"/v1/chunks/{chunk['id']}").status_code == 404
    assert ask(client, question) == (REFUSAL, [])


@pytest.mark.processes
def test_a_page_is_imported_and_a_private_one_refused(client: httpx.Client, site: Website) -> None:
    started = client.post("/v1/documents/url", json={"url": site.url("/bees")})
    assert started.status_code == 202, started.text
    run = followed(client, started.json()["run_id"])
    (file,) = run["files"]
    assert (file["status"], file["source_uri"]) == ("added", site.url("/bees"))
    answer, (chunk, *_) = ask(client, "What are the bees fed with in winter?")
    assert "sugar dough" in answer
    assert chunk["heading_path"] == ["Beekeeping", "Feeding"]
    assert chunk["source_uri"] == site.url("/bees")

    asked = len(site.seen)
    private = site.url("/bees").replace("127.0.0.1", "localhost")
    started = client.post("/v1/documents/url", json={"url": private})
    run = followed(client, started.json()["run_id"])
    (file,) = run["files"]
    assert file["status"] == "failed"
    assert file["reason"].startswith("refused: the address of localhost is ")
    assert len(site.seen) == asked


@pytest.mark.processes
def test_a_server_that_is_stopped_ends_its_worker(server: Service, client: httpx.Client) -> None:
    _worker_of(server, client)
    started = children(server.process)
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(timeout=60)
    assert eventually(lambda: ended(started), 60), server.logged()
    assert "Traceback" not in server.logged()


@pytest.mark.processes
def test_a_server_that_is_killed_ends_its_worker(database_url: str, tmp_path: Path) -> None:
    with served(tmp_path / "log", DATABASE_URL=database_url, **OFFLINE) as server:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            _worker_of(server, client)
        started = children(server.process)
        server.process.kill()
        server.process.wait()
        assert eventually(lambda: ended(started), 60), server.logged()
    assert "Traceback" not in server.logged()


def _worker_of(server: Service, client: httpx.Client) -> None:
    """Have the server's worker do something, so that it is there and at work."""
    content = b"The night shift ends at six."
    run_id = client.post("/v1/documents", files={"file": ("shift.txt", content)}).json()["run_id"]
    followed(client, run_id)
    assert len(children(server.process)) >= 1
