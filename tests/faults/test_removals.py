"""Documents removed at their source while syncs are killed: what is gone is not cited, ever again.

A folder and a git repository are synced again and again. In the midst of syncs, and of reads after
them, the worker, the server or the database is killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.support.embedded_servers import a_place, kill, processes
from tests.support.receipt_corpus import question
from tests.support.server_processes import children, served
from tests.support.service_process import Service, environment, eventually
from tests.support.shifting_source import ShiftingSource
from tests.support.warm_processes import Process

pytestmark = pytest.mark.processes

FILES = 16
"""Files of a source; up to three go at once, of those that have a document still."""
VICTIMS = ("worker", "server", "database")
MOST_KILLS = 3
"""In the midst of one sync: a sync that is killed at every look does not end."""


@dataclass
class Library:
    """A server over two sources, what it must have of them by number, and what was read of it."""

    folder: Path
    place: Path
    draw: random.Random
    sources: list[ShiftingSource] = field(default_factory=list)
    live: dict[int, int] = field(default_factory=dict)
    doomed: dict[int, int] = field(default_factory=dict)
    removed: dict[int, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    next: int = 0
    _open: ExitStack = field(default_factory=ExitStack)

    @property
    def reads(self) -> int:
        return sum(n for name, n in self.counts.items() if " of " in name)

    def start(self) -> None:
        """Start the server, anew where it was killed."""
        self._open.close()
        log = self.folder / f"log-{self.counts['server']}"
        self.service = self._open.enter_context(served(log, **self.values()))
        self._client = self._open.enter_context(httpx.Client(base_url=self.service.url, timeout=60))

    def values(self) -> dict[str, str]:
        return {
            "DATABASE_URL": f"embedded:{self.place}", "HELIX_LLM": "offline",
            "HELIX_EMBEDDER": "offline", "HELIX_WORKERS": "1", "HELIX_SUGGESTIONS": "off",
            "HELIX_REMOVAL_PERCENT": "100",  # what is removed at once waits for nobody's yes
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }  # fmt: skip

    def add_source(self, kind: str) -> None:
        """Add a source as whoever runs the server does; no sync of it begins by itself."""
        tree = self.folder / kind
        source = ShiftingSource(kind, tree, self.draw, is_repository=kind == "git")
        added = Process(
            "helix.cli", "source", "add", source.address, "--kind", kind, "--name", kind,
            "--option", "keep_files=true", "--every", "never",
            cwd=self.folder, env=environment(**self.values()),
        )  # fmt: skip
        _, errors = added.communicate(timeout=120)
        assert added.returncode == 0, errors
        self.sources.append(source)

    def request(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """The response; None where the server, or what it needs, was away."""
        try:
            response = self._client.request(method, path, **more)
        except httpx.TransportError:
            return None
        return None if response.status_code >= 500 else response

    def patiently(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The response once there is one."""
        found: list[httpx.Response] = []

        def told() -> bool:
            response = self.request(method, path, **more)
            found.extend([response] if response is not None else [])
            return response is not None

        assert eventually(told, 300), path
        return found[0]

    def kill_one(self, where: str, victims: tuple[str, ...] = VICTIMS) -> None:
        """SIGKILL to one of them, if there is one just now."""
        victim = self.draw.choice(victims)
        if victim == "worker" and (found := workers(self.service)):
            kill(found)
        elif victim == "database":
            kill([one for one in processes(self.place) if one.name() == "postgres"])
        elif victim == "server":
            with suppress(ProcessLookupError):
                os.kill(self.service.process.pid, signal.SIGKILL)
        else:
            return
        self.counts[victim] += 1
        self.counts[where] += 1
        if victim == "server":
            self.start()

    def is_removed(self, document: int) -> bool:
        return self.patiently("GET", f"/v1/documents/{document}").status_code == 404

    def read(self) -> None:
        """Ask about a document, or read it or its page; note what is not as it should be."""
        there = not self.removed or self.draw.random() < 0.4
        among = self.live if there else self.removed
        number = self.draw.choice(list(among)[-40:])
        kind = self.draw.choice(("ask", "query", "query", "text", "page"))
        if kind in ("ask", "query"):
            self._answer(kind, number, among[number], there)
            return
        path = f"/v1/documents/{among[number]}"
        if kind == "page" and number % 2 == 0:
            path += "/pages/1.png"
        response = self.patiently("GET", path)
        if there and response.status_code == 422 and path.endswith(".png"):
            self.counts["not drawn in time"] += 1  # on a busy machine; it is there all the same
            return
        self.counts[f"{kind} of {'live' if there else 'removed'}"] += 1
        if response.status_code != (200 if there else 404):
            self.wrong.append(f"{path} of {number}: {response.status_code}, there: {there}")

    def _answer(self, kind: str, number: int, document: int, there: bool) -> None:
        asked = question(number)
        if kind == "ask":
            said = self.patiently("GET", "/ask", params={"q": asked}).text
            if "event: citations" not in said:
                return  # it was cut, and says so by having no end
        else:
            said = json.dumps(self.patiently("POST", "/v1/query", json={"question": asked}).json())
        self.counts[f"{kind} of {'live' if there else 'removed'}"] += 1
        cited = f"depot {number} in" in said and f"{100 + 7 * number} crates" in said
        if cited is not there:
            self.wrong.append(f"{kind} of {number} ({document}), there: {there}: {said[:300]}")

    def change(self, source: ShiftingSource) -> None:
        """Remove, move and add files of a source."""
        for number in self._some(source, self.draw.randint(1, 3)):
            source.remove(number)
            if number in self.live:
                self.doomed[number] = self.live.pop(number)
        for number in self._some(source, self.draw.randint(0, 2)):
            source.move(number)
        while len(source.files) < FILES:
            source.add(self.next)
            self.next += 1
        source.publish()

    def _some(self, source: ShiftingSource, count: int) -> list[int]:
        return self.draw.sample(sorted(source.files), min(count, len(source.files)))

    def remove_here(self, source: ShiftingSource) -> None:
        """Delete or erase a document whose file stays at its source: it is not to come back."""
        number = self.draw.choice([one for one in source.files if one in self.live])
        document = self.live.pop(number)
        if self.draw.random() < 0.5:
            self.request("DELETE", f"/v1/documents/{document}")
        else:
            self.request("POST", "/v1/erasures", json={"document_id": document})
        is_removed = self.is_removed(document)  # where nobody said whether, whoever looks is told
        (self.removed if is_removed else self.live)[number] = document

    def sync(self, source: ShiftingSource, kills: float) -> None:
        """Sync a source to its end, reading and killing meanwhile; it is in step then."""
        assert self._one_sync(source, kills) or self._one_sync(source, 0), "it does not end well"
        for number, document in self.doomed.items():
            if not self.is_removed(document):
                self.wrong.append(f"{number} ({document}) is there after its source was synced")
        self.removed |= self.doomed
        self.doomed.clear()
        self._check_what_is_there(source)

    def _one_sync(self, source: ShiftingSource, kills: float) -> bool:
        number = self._source_of(source)["id"]
        run = self.patiently("POST", f"/v1/sources/{number}/sync", json={}).json()["run_id"]
        self.counts["syncs"] += 1
        most = self.counts["killed in a sync"] + MOST_KILLS
        while True:
            told = self.patiently("GET", f"/v1/runs/{run}").json()
            if told["status"] not in ("queued", "running"):
                return told["status"] == "done" and not self._source_of(source)["last_error"]
            if self.draw.random() < kills and self.counts["killed in a sync"] < most:
                self.kill_one("killed in a sync", ("worker", "worker", *VICTIMS))
            for number, document in [*self.doomed.items()]:  # from then on it is gone
                if self.is_removed(document):
                    self.removed[number] = self.doomed.pop(number)
            for _ in range(3 if self.live else 0):
                self.read()

    def _source_of(self, source: ShiftingSource) -> dict[str, Any]:
        told = self.patiently("GET", "/v1/sources").json()["sources"]
        return next(one for one in told if one["name"] == source.name)

    def _check_what_is_there(self, source: ShiftingSource) -> None:
        """Each file has its document, that which it had; what was deleted here has none."""
        number = self._source_of(source)["id"]
        told = self.patiently("GET", "/v1/documents", params={"limit": 200}).json()["documents"]
        there = {
            one["source_uri"].partition("/")[2]: one["id"] for one in told
            if one["source_uri"].startswith(f"source:{number}/") and one["status"] == "ready"
        }  # fmt: skip
        for fact, key in source.files.items():
            document = there.pop(key, None)
            if (document is None) is not (fact in self.removed):
                self.wrong.append(f"{key}: {document}, deleted here: {fact in self.removed}")
            elif document is not None and self.live.setdefault(fact, document) != document:
                self.wrong.append(f"{key} is {document}, and was {self.live[fact]}")
        self.wrong += [f"{key} ({document}) has no file" for key, document in there.items()]


def workers(service: Service) -> list[psutil.Process]:
    """The server's workers that live."""
    found = []
    for one in children(service.process):
        with suppress(psutil.Error):  # one that was killed is a zombie for a while
            found += [one] if "--parent" in one.cmdline() else []
    return found


@contextmanager
def running(folder: Path, place: Path) -> Iterator[Library]:
    """A library of two sources that were synced once."""
    library = Library(folder, place, random.Random(35))
    library.start()
    try:
        for kind in ("folder", "git"):
            library.add_source(kind)
            library.change(library.sources[-1])
            library.sync(library.sources[-1], kills=0)
        yield library
    finally:
        library._open.close()


def shaken(library: Library, reads: int, removals: int, each: int, kills: float) -> None:
    """Change, sync and read in turn, ``each`` reads between two syncs, until all counts are met.

    A sync may be over before it is looked at: one at least is killed.
    """
    counts = library.counts
    while (
        library.reads < reads or len(library.removed) < removals or not counts["killed in a sync"]
    ):
        source = library.draw.choice(library.sources)
        library.change(source)
        library.sync(source, kills)
        for _ in range(each):
            library.read()
        library.kill_one("killed after it")
        if library.draw.random() < 0.3:
            library.remove_here(source)
        told = f"{dict(library.counts)}, removed: {len(library.removed)}, reads: {library.reads}"
        (library.folder / "counted").write_text(f"{told}\n{library.wrong}")
        assert library.wrong == []


def test_what_is_gone_at_its_source_is_not_cited_whoever_is_killed(tmp_path: Path) -> None:
    with a_place() as place, running(tmp_path, place) as library:
        shaken(library, 20, removals=1, each=4, kills=0.5)
        assert library.removed and library.reads >= 20 and library.counts["killed in a sync"]


@pytest.mark.soak
@pytest.mark.timeout(14_400)
def test_ten_thousand_reads_after_removals_at_the_source(tmp_path: Path) -> None:
    with a_place() as place, running(tmp_path, place) as library:
        shaken(library, 10_000, removals=80, each=150, kills=0.04)
        assert library.reads >= 10_000 and library.counts["killed in a sync"] > 40
