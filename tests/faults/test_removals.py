"""Documents removed while server, worker and database are killed: none of them is cited."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.support.embedded_servers import a_place, kill, processes
from tests.support.receipt_corpus import fact, question
from tests.support.sample_documents import pdf
from tests.support.server_processes import children, served
from tests.support.service_process import Service, eventually

LIVE = 8
"""Documents that are there, about."""
EVERY = 250
"""Reads of one life of the server, in which or at whose end something is killed."""


@dataclass
class Library:
    """The documents that a server was given, by their number, and what was read of them."""

    place: Path
    draw: random.Random
    service: Service | None = None
    live: dict[int, int] = field(default_factory=dict)
    removed: dict[int, int] = field(default_factory=dict)
    reads: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    next: int = 0

    def request(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """The response; None where the server, or what it needs, was away."""
        assert self.service is not None
        try:
            response = httpx.request(method, self.service.url + path, timeout=60, **more)
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

    def add(self) -> None:
        """Upload the next fact, every other one printed; the same bytes again are the same one."""
        number, self.next = self.next, self.next + 1
        text = fact(number)
        name, data = (f"{number}.txt", text.encode()) if number % 2 else (
            f"{number}.pdf", pdf(*text.split(". ")))  # fmt: skip
        told = self.patiently("POST", "/v1/documents", files={"file": (name, data)}).json()
        document = int(told["documents"][0]["id"])

        def ready() -> bool:
            response = self.request("GET", f"/v1/documents/{document}")
            return response is not None and response.json().get("status") == "ready"

        assert eventually(ready, 600), number
        self.live[number] = document

    def remove(self) -> None:
        """Remove one; where nobody said whether it was, whoever looks is told."""
        number = self.draw.choice(list(self.live))
        document = self.live.pop(number)
        if self.draw.random() < 0.5:
            self.request("DELETE", f"/v1/documents/{document}")
        else:
            self.request("POST", "/v1/erasures", json={"document_id": document})
        if self.patiently("GET", f"/v1/documents/{document}").status_code == 404:
            self.removed[number] = document
        else:
            self.live[number] = document

    def read(self) -> None:
        """Ask about a document, or read it or its page; note what is not as it should be."""
        there = not self.removed or self.draw.random() < 0.4
        among = self.live if there else self.removed
        number = self.draw.choice(list(among)[-30:])
        document = among[number]
        kind = self.draw.choice(("ask", "query", "query", "text", "page"))
        if kind in ("ask", "query"):
            self._answer(kind, number, document, there)
            return
        path = f"/v1/documents/{document}"
        if kind == "page" and number % 2 == 0:
            path += "/pages/1.png"
        if (response := self.request("GET", path)) is not None:
            self.reads[f"{kind} of {'live' if there else 'removed'}"] += 1
            if response.status_code != (200 if there else 404):
                self.wrong.append(f"{path} of {number}: {response.status_code}, there: {there}")

    def _answer(self, kind: str, number: int, document: int, there: bool) -> None:
        asked = question(number)
        if kind == "ask":
            response = self.request("GET", "/ask", params={"q": asked})
            if response is None or "event: citations" not in response.text:
                return  # it was cut, and says so by having no end
            said = response.text
        else:
            response = self.request("POST", "/v1/query", json={"question": asked})
            if response is None:
                return
            said = json.dumps(response.json())
        self.reads[f"{kind} of {'live' if there else 'removed'}"] += 1
        cited = f"depot {number} in" in said and f"{100 + 7 * number} crates" in said
        if cited is not there:
            self.wrong.append(f"{kind} of {number} ({document}), there: {there}: {said[:300]}")


@contextmanager
def running(library: Library, folder: Path) -> Iterator[None]:
    """The server over the embedded database, with a worker, while the block lasts."""
    values = {
        "DATABASE_URL": f"embedded:{library.place}", "HELIX_LLM": "offline",
        "HELIX_EMBEDDER": "offline", "HELIX_WORKERS": "1", "HELIX_SUGGESTIONS": "off",
    }  # fmt: skip
    with served(folder / "log", **values) as service:
        library.service = service
        yield


def one_life(library: Library, folder: Path, victim: str, reads: int) -> None:
    """Add, remove and read ``reads`` times; in their midst the ``victim`` is killed."""
    until = library.reads.total() + reads
    with running(library, folder):
        while library.reads.total() < until:
            while len(library.live) < LIVE:
                library.add()
            if library.draw.random() < 0.15:
                library.remove()
            for _ in range(4):
                library.read()
            if victim == "worker" and library.draw.random() < 8 / reads:
                kill(workers(library))
            if victim == "database" and library.draw.random() < 8 / reads:
                kill([one for one in processes(library.place) if one.name() == "postgres"])
        if victim == "server":
            assert library.service is not None
            with suppress(ProcessLookupError):
                os.kill(library.service.process.pid, signal.SIGKILL)


def workers(library: Library) -> list[psutil.Process]:
    """The server's workers that live."""
    assert library.service is not None
    found = []
    for one in children(library.service.process):
        with suppress(psutil.Error):  # one that was killed is a zombie for a while
            found += [one] if "--parent" in one.cmdline() else []
    return found


def shaken(folder: Path, place: Path, reads: int, every: int = EVERY) -> Library:
    library = Library(place, random.Random(35))
    victims = ("server", "worker", "database")
    lives = 0
    while library.reads.total() < reads:
        one_life(library, folder, victims[lives % 3], every)
        lives += 1
        (folder / "counted").write_text(f"{dict(library.reads)}, removed: {len(library.removed)}")
        assert library.wrong == []
    return library


def test_what_was_removed_is_not_cited_whoever_is_killed(tmp_path: Path) -> None:
    with a_place() as place:
        library = shaken(tmp_path, place, 60, every=20)
    assert library.removed and library.reads.total() >= 60


@pytest.mark.soak
@pytest.mark.timeout(14_400)
def test_ten_thousand_reads_after_removals(tmp_path: Path) -> None:
    with a_place() as place:
        library = shaken(tmp_path, place, 10_000)
    assert len(library.removed) > 100
