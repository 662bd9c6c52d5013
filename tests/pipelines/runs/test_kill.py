"""``kill -9`` in the middle of a run: at random moments, at every step, of one worker of two."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from db.embedded_postgres import acquire, wait_until_stopped
from db.migrate import migrate
from helix.library.runs import create_run, this_host
from helix.retrieval.embedding_cache import cache_key
from tests.support.fake_embedder import rows
from tests.support.server_folders import new_folder
from tests.support.service_process import environment, eventually
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire

pytestmark = pytest.mark.processes

IDENTITY = "gemini:gemini-embedding-001:1536"
SAYS = re.compile(r"Number (\d+) says in version (\d+)")
"""The beginning of every chunk's sentences: the document it is of, and the version."""


class Corpus:
    """A folder of ``files`` numbered files of two or three chunks, that change now and then."""

    def __init__(self, folder: Path, chance: random.Random, files: int) -> None:
        self.folder = folder
        self.versions = dict.fromkeys(range(files), 0)
        self._chance = chance
        for number in self.versions:
            self._write(number)

    def change_some(self, count: int) -> None:
        for number in self._chance.sample(sorted(self.versions), count):
            self.versions[number] += 1
            self._write(number)

    def hashes(self) -> dict[str, str]:
        """source_uri to SHA-256 of the file as it is now."""
        return {file.name: sha256(file.read_bytes()).hexdigest() for file in self.folder.iterdir()}

    def _write(self, number: int) -> None:
        version = self.versions[number]
        sentences = (f"Number {number} says in version {version} this {n}." for n in range(70))
        (self.folder / f"{number}.txt").write_text("\n\n".join(sentences))


class Ingest:
    """One process that carries out runs in the corpus's folder, and what it asked the wire."""

    def __init__(self, corpus: Corpus, url: str, wire: GeminiWire, *command: str) -> None:
        self._wire = wire
        self._seen = len(wire.requests)
        variables = environment(
            DATABASE_URL=url,
            GOOGLE_GEMINI_BASE_URL=wire.base_url,
            GEMINI_API_KEY="test-key",
            HELIX_EMBEDDER="gemini",
            HELIX_LLM="offline",
        )
        arguments = command or ("pipelines.ingest", ".")
        self.process = Process(*arguments, cwd=corpus.folder, env=variables)

    def requests(self) -> int:
        return len(self._wire.requests) - self._seen

    def asked(self) -> list[str]:
        """Cache keys of every text that was embedded since this began, or tried to be."""
        return [
            cache_key(IDENTITY, "document", content["content"]["parts"][-1]["text"])
            for request in self._wire.requests[self._seen :]
            for content in request.body["requests"]
        ]

    def stop(self, by: signal.Signals) -> bool:
        """Send ``by``; False when it had ended before."""
        self.process.send_signal(by)
        self.said, self.errors = self.process.communicate(timeout=60)
        assert "Traceback" not in self.errors, self.errors
        return self.process.returncode != 0

    def end(self) -> None:
        """Wait for a good end."""
        self.said, self.errors = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, self.errors


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with GeminiWire(delay=0.05) as wire:
        yield wire


def count(url: str, table: str) -> int:
    [(found,)] = rows(url, f"SELECT count(*) FROM {table}")
    return int(found)


def cached(url: str) -> set[str]:
    """Keys of the embeddings that are paid for, once the server has let go of a killed client."""
    others = (
        "SELECT FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    assert eventually(lambda: not rows(url, others), 30)
    return {key for (key,) in rows(url, "SELECT key FROM embedding_cache")}


def stored(url: str) -> dict[str, str]:
    return dict(rows(url, "SELECT source_uri, content_hash FROM documents"))


def check_whole(url: str) -> None:
    """Every document that is there is there once, of one version, with every chunk."""
    assert rows(url, "SELECT source_uri FROM documents GROUP BY 1 HAVING count(*) > 1") == []
    found = rows(
        url,
        "SELECT d.source_uri, d.content_hash, d.text,"
        " array_agg(ordinal ORDER BY ordinal), array_agg(content ORDER BY ordinal),"
        " array_agg(start_char ORDER BY ordinal), array_agg(end_char ORDER BY ordinal)"
        " FROM documents d LEFT JOIN chunks c ON c.document_id = d.id GROUP BY d.id",
    )
    for name, content_hash, text, ordinals, contents, starts, ends in found:
        assert sha256(text.encode()).hexdigest() == content_hash, name
        assert ordinals == list(range(len(ordinals))), name
        assert contents == [text[a:b] for a, b in zip(starts, ends, strict=True)], name
        assert (starts[0], ends[-1]) == (0, len(text)), name
        assert len(set(contents)) == len(contents), name
        [said] = {match for content in contents for match in SAYS.findall(content)}
        assert f"{said[0]}.txt" == name


def check_ended(url: str, corpus: Corpus) -> None:
    """All is in, once, and accounted for once in each run; nothing is left over."""
    assert stored(url) == corpus.hashes()
    check_whole(url)
    assert rows(url, "SELECT status FROM runs WHERE status <> 'done'") == []
    unsettled = "SELECT n FROM run_files WHERE status NOT IN ('added', 'replaced', 'unchanged')"
    assert rows(url, unsettled) == []
    assert count(url, "files") == 0, "bytes that nothing needs are let go"
    index = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    assert rows(url, index, "chunks_embedding_hnsw") == [(True,)]


@pytest.mark.parametrize(
    ("kills", "files"), [(1, 8), pytest.param(50, 200, marks=pytest.mark.soak)]
)
@pytest.mark.timeout(3600)
def test_killed_runs_lose_and_repeat_nothing(
    tmp_path: Path, durable_database_url: str, wire: GeminiWire, kills: int, files: int
) -> None:
    """The corpus changes after every third kill, so that most kills hit a run gone on with."""
    database_url = durable_database_url
    chance = random.Random(2024)
    corpus = Corpus(tmp_path, chance, files)
    landed, paid = 0, set[str]()
    while landed < kills:
        run = Ingest(corpus, database_url, wire)
        settled = count(database_url, "embedding_cache")
        _until_more_is_paid_for(database_url, settled, run)
        time.sleep(chance.uniform(0, 0.6))
        landed += run.stop(signal.SIGKILL)
        assert not paid & set(run.asked()), "what is paid for is not asked for again"
        before, paid = paid, cached(database_url)
        assert before <= paid
        check_whole(database_url)
        if landed % 3 == 0:
            corpus.change_some(chance.randint(1, files // 4))
    for _ in range(2):  # the first goes on with a run, whose scan may be older than the last change
        run = Ingest(corpus, database_url, wire)
        run.end()
        assert not paid & set(run.asked())
        paid = cached(database_url)
    check_ended(database_url, corpus)


def _until_more_is_paid_for(url: str, before: int, run: Ingest) -> None:
    """Or until there is nothing more to pay for, and the run is about to end."""

    def there() -> bool:
        return count(url, "embedding_cache") > before or run.process.poll() is not None

    assert eventually(there, 60), "it neither gets on nor ends"


BOUNDARY = """
CREATE SEQUENCE recorded;
CREATE FUNCTION stop_there() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('recorded') > 1 THEN PERFORM pg_advisory_xact_lock_shared(4242); END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stop_there BEFORE INSERT ON dbos.operation_outputs
    FOR EACH ROW EXECUTE FUNCTION stop_there();
"""
HELD_UP = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 4242 AND NOT granted"


@pytest.mark.parametrize(
    ("files", "most"), [(1, 2), pytest.param(200, 10_000, marks=pytest.mark.soak)]
)
@pytest.mark.timeout(3600)
def test_a_kill_at_every_step_boundary(
    tmp_path: Path, durable_database_url: str, wire: GeminiWire, files: int, most: int
) -> None:
    """Each life records one step and is killed when it has done another but not recorded it.

    A trigger holds up the second record of a life, so there is a kill between the doing and the
    recording of every step of the run but the first, and of the files done beside it.
    """
    corpus, database_url = Corpus(tmp_path, random.Random(7), files), durable_database_url
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(BOUNDARY)
    paid, lives = set[str](), 0
    while lives < most and (run := _until_second_step(corpus, database_url, wire)) is not None:
        lives += 1
        assert not paid & set(run.asked())
        paid = cached(database_url)
        check_whole(database_url)
    assert lives >= files, "a life for each file's step at least"
    if lives == most:
        Ingest(corpus, database_url, wire).end()
    check_ended(database_url, corpus)


def _until_second_step(corpus: Corpus, url: str, wire: GeminiWire) -> Ingest | None:
    """A life, killed as it is about to record its second step; None when it ended before."""
    with psycopg.connect(url, autocommit=True) as gate:
        gate.execute("SELECT pg_advisory_lock(4242), setval('recorded', 1, false)")
        run = Ingest(corpus, url, wire)

        def there() -> bool:
            return bool(gate.execute(HELD_UP).fetchone()) or run.process.poll() is not None

        assert eventually(there, 120), "it neither ends nor gets to a step"
        if run.process.poll() is not None:
            run.end()
            return None
        run.stop(signal.SIGKILL)
        gate.execute(f"SELECT pg_terminate_backend(pid) FROM ({HELD_UP}) AS held")
    return run


@pytest.mark.parametrize("files", [6, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.timeout(600)
def test_of_two_workers_one_is_killed(
    tmp_path: Path, durable_database_url: str, wire: GeminiWire, files: int
) -> None:
    corpus, database_url = Corpus(tmp_path, random.Random(3), files), durable_database_url
    command = ("pipelines.worker", "--files", str(files // 3))  # neither takes all of them
    wire.delay = 1.0  # or one may be done before the other has started
    workers = [Ingest(corpus, database_url, wire, *command) for _ in range(2)]
    with psycopg.connect(database_url) as connection:
        options = {"paths": ["."], "base": str(corpus.folder), "title": None}
        run_id = create_run(connection, "paths", options, "", this_host())
    at_work = "SELECT DISTINCT executor_id FROM dbos.workflow_status WHERE status = 'PENDING'"
    assert eventually(lambda: len(rows(database_url, at_work)) == 2, 60), "both are at work"
    wire.delay = 0.0
    workers[0].stop(signal.SIGKILL)
    ended = "SELECT status FROM runs WHERE id = %s AND finished_at IS NOT NULL"
    assert eventually(lambda: rows(database_url, ended, run_id) == [("done",)], 200)
    workers[1].stop(signal.SIGTERM)
    check_ended(database_url, corpus)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_four_workers_are_killed_at_random(
    tmp_path: Path, database_url: str, wire: GeminiWire
) -> None:
    """Runs of 200 files that change in between, until 40 of the workers were killed."""
    chance = random.Random(11)
    corpus = Corpus(tmp_path, chance, 200)
    wire.delay = 0.5
    command = ("pipelines.worker", "--files", "8")
    workers = [Ingest(corpus, database_url, wire, *command) for _ in range(4)]
    tables = "SELECT to_regclass('dbos.workflow_status') IS NOT NULL"
    assert eventually(lambda: rows(database_url, tables) == [(True,)], 60)
    ended = "SELECT status FROM runs WHERE id = %s AND finished_at IS NOT NULL"
    kills, runs = 0, 0
    while kills < 40:
        with psycopg.connect(database_url) as connection:
            options = {"paths": ["."], "base": str(corpus.folder), "title": None}
            run_id = create_run(connection, "paths", options, "", this_host())
        runs += 1
        while not rows(database_url, ended, run_id):
            if not eventually(lambda: bool(rows(database_url, ended, run_id)), chance.random() * 4):  # noqa: B023  it is called at once
                victim = chance.randrange(len(workers))
                workers[victim].stop(signal.SIGKILL)
                workers[victim] = Ingest(corpus, database_url, wire, *command)
                kills += 1
        assert rows(database_url, ended, run_id) == [("done",)]
        assert stored(database_url) == corpus.hashes()
        check_whole(database_url)
        corpus.change_some(100)
    for worker in workers:
        worker.stop(signal.SIGTERM)
    print(f"{kills} kills in {runs} runs")  # noqa: T201  a figure of tests/SOAK.md
    unsettled = "SELECT n FROM run_files WHERE status NOT IN ('added', 'replaced', 'unchanged')"
    assert rows(database_url, unsettled) == []
    assert count(database_url, "files") == 0, "bytes that nothing needs are let go"


@pytest.mark.timeout(300)
def test_postgres_crashes_and_restarts_in_the_middle(tmp_path: Path, wire: GeminiWire) -> None:
    """A backend killed by force makes the server drop every connection and recover."""
    corpus = Corpus(tmp_path, random.Random(5), 12)
    directory = new_folder()
    try:
        with acquire(directory) as server:
            migrate(server.url)
            run = Ingest(corpus, server.url, wire)
            assert eventually(lambda: count(server.url, "embedding_cache") > 0, 60)
            [(backend,)] = rows(
                server.url,
                "SELECT max(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
            )
            os.kill(backend, signal.SIGKILL)
            run.end()
            check_ended(server.url, corpus)
        assert wait_until_stopped(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.mark.timeout(300)
def test_an_interrupted_run_says_so_and_is_gone_on_with(
    tmp_path: Path, durable_database_url: str, wire: GeminiWire
) -> None:
    corpus, database_url = Corpus(tmp_path, random.Random(1), 16), durable_database_url
    run = Ingest(corpus, database_url, wire)
    assert eventually(lambda: count(database_url, "documents") > 1, 60)
    assert run.stop(signal.SIGINT)
    assert run.process.returncode == 130
    *lines, last = run.errors.splitlines()
    assert last.startswith("ingest: interrupted; what is stored stays, run it again to go on; ")
    assert last.endswith(" unless `helix runs cancel` ends the run")
    assert all(line.startswith("added ") for line in lines)
    assert len(stored(database_url)) >= len(lines)
    check_whole(database_url)
    run = Ingest(corpus, database_url, wire)
    run.end()
    assert "going on with run 1, which was interrupted" in run.errors
    assert "16 files: 16 added, 0 replaced, 0 unchanged, 0 failed" in run.said
    check_ended(database_url, corpus)
