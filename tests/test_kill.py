"""``kill -9`` in the middle of an ingest, and the same command again until it ends."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.fakes import rows
from tests.wire.gemini import GeminiWire

ROOT = Path(__file__).resolve().parent.parent
FILES = 200
SAYS = re.compile(r"Number (\d+) says in version (\d+)")
"""What every chunk starts its sentences with: whose it is, and of which version."""


class Corpus:
    """A folder of numbered files, each of two or three chunks, that change now and then."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.versions = dict.fromkeys(range(FILES), 0)
        self._chance = chance
        for number in self.versions:
            self._write(number)

    def change_some(self, count: int) -> None:
        for number in self._chance.sample(range(FILES), count):
            self.versions[number] += 1
            self._write(number)

    def hashes(self) -> dict[str, str]:
        """source_uri to SHA-256 of the file as it is now."""
        return {file.name: sha256(file.read_bytes()).hexdigest() for file in self.folder.iterdir()}

    def unlike(self, stored: dict[str, str]) -> set[tuple[int, int]]:
        """(file, version) of each that is not ``stored`` as it is now."""
        current = self.hashes()
        return {
            (number, version)
            for number, version in self.versions.items()
            if stored.get(f"{number}.txt") != current[f"{number}.txt"]
        }

    def _write(self, number: int) -> None:
        version = self.versions[number]
        sentences = (f"Number {number} says in version {version} this {n}." for n in range(70))
        (self.folder / f"{number}.txt").write_text("\n\n".join(sentences))


class Run:
    """One ``python -m pipelines.ingest .`` in the corpus's folder, and what it asked the wire."""

    def __init__(self, corpus: Corpus, url: str, wire: GeminiWire) -> None:
        self._wire = wire
        self._seen = len(wire.requests)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DATABASE_URL": url,
            "GOOGLE_GEMINI_BASE_URL": wire.base_url,
            "GEMINI_API_KEY": "test-key",
            "HELIX_EMBEDDER": "gemini",
            "HELIX_LLM": "offline",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pipelines.ingest", "."],
            cwd=corpus.folder, env=environment, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def requests(self) -> int:
        return len(self._wire.requests) - self._seen

    def asked(self) -> set[tuple[int, int]]:
        """(file, version) of every text this run had embedded, or tried to."""
        texts = (
            content["content"]["parts"][-1]["text"]
            for request in self._wire.requests[self._seen :]
            for content in request.body["requests"]
        )
        found = (SAYS.search(text) for text in texts)
        return {(int(match[1]), int(match[2])) for match in found if match}

    def interrupt(self, ready: Callable[[], bool], then: float, by: signal.Signals) -> bool:
        """Send ``by`` some seconds after it is ``ready``; False when the run ended before."""
        deadline = time.monotonic() + 60
        while not ready() and self.process.poll() is None:
            assert time.monotonic() < deadline, "the run neither ends nor gets there"
            time.sleep(0.03)
        time.sleep(then)
        self.process.send_signal(by)
        self.errors = self.process.communicate(timeout=60)[1]
        return self.process.returncode != 0


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with GeminiWire(delay=0.05) as wire:
        yield wire


def document_count(url: str) -> int:
    [(count,)] = rows(url, "SELECT count(*) FROM documents")
    return int(count)


def committed(url: str) -> dict[str, str]:
    """source_uri to content hash, once the server has let go of a killed client."""
    others = (
        "SELECT FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    deadline = time.monotonic() + 30
    while rows(url, others):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return dict(rows(url, "SELECT source_uri, content_hash FROM documents"))


def check_whole(url: str) -> None:
    """Every document that is there is there once, of one version, with every chunk."""
    assert rows(url, "SELECT source_uri FROM documents GROUP BY 1 HAVING count(*) > 1") == []
    stored = rows(
        url,
        "SELECT d.source_uri, d.content_hash, d.text,"
        " array_agg(ordinal ORDER BY ordinal), array_agg(content ORDER BY ordinal),"
        " array_agg(start_char ORDER BY ordinal), array_agg(end_char ORDER BY ordinal)"
        " FROM documents d LEFT JOIN chunks c ON c.document_id = d.id GROUP BY d.id",
    )
    for name, content_hash, text, ordinals, contents, starts, ends in stored:
        assert sha256(text.encode()).hexdigest() == content_hash, name
        assert ordinals == list(range(len(ordinals))), name
        assert contents == [text[a:b] for a, b in zip(starts, ends, strict=True)], name
        assert (starts[0], ends[-1]) == (0, len(text)), name
        assert all(b >= a for a, b in zip(starts[1:], ends, strict=False)), name
        [said] = {match for content in contents for match in SAYS.findall(content)}
        assert f"{said[0]}.txt" == name


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
def test_killed_runs_lose_and_repeat_nothing(
    tmp_path: Path, database_url: str, wire: GeminiWire, kills: int
) -> None:
    chance = random.Random(2024)
    corpus = Corpus(tmp_path, chance)
    landed, partial, stored = 0, 0, dict[str, str]()
    while landed < kills:
        due = corpus.unlike(stored)
        run = Run(corpus, database_url, wire)
        after = chance.randint(1, 3)

        def ready(run: Run = run, after: int = after, first: bool = not landed) -> bool:
            # The first kill comes after a commit for certain, the others at any request.
            return document_count(database_url) > 0 if first else run.requests() >= after

        landed += run.interrupt(ready, chance.uniform(0, 0.3), signal.SIGKILL)
        assert "Traceback" not in run.errors
        assert run.asked() <= due, "what was committed is not asked for again"
        before, stored = stored, committed(database_url)
        partial += before != stored
        assert set(before) <= set(stored), "what was committed stays"
        check_whole(database_url)
        corpus.change_some(chance.randint(1, 60))
    assert partial, "no kill came after a commit: the test tells nothing"
    due, current = corpus.unlike(stored), corpus.hashes()
    run = Run(corpus, database_url, wire)
    run.process.communicate(timeout=300)
    assert run.process.returncode == 0
    assert run.asked() == due
    assert committed(database_url) == current
    assert len(current) == FILES
    check_whole(database_url)
    index = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    assert rows(database_url, index, "chunks_embedding_hnsw") == [(True,)]


def test_an_interrupted_run_says_so_and_keeps_what_is_stored(
    tmp_path: Path, database_url: str, wire: GeminiWire
) -> None:
    corpus = Corpus(tmp_path, random.Random(1))
    run = Run(corpus, database_url, wire)
    # A group's files are told of when all of it is written, and a group is of about 50 of these.
    assert run.interrupt(lambda: document_count(database_url) > 60, 0.05, signal.SIGINT)
    assert run.process.returncode == 130
    *lines, last = run.errors.splitlines()
    assert last == "ingest: interrupted; what is stored stays, run it again to go on"
    assert lines and all(line.startswith("added ") for line in lines)
    assert len(committed(database_url)) >= len(lines)
    check_whole(database_url)
    index = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    assert rows(database_url, index, "chunks_embedding_hnsw") == [(True,)]
