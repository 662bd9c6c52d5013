"""Large bodies at once: what a server takes for them is of the order of their bytes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.repository import ROOT
from tests.support.server_processes import served
from tests.support.service_process import Service, run

QUESTION = "How long do I have to request a refund?"
MEGABYTE = 2**20
SLACK = 96  # megabytes that answering takes for the first time: models of language, pools
pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def service(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    values = {
        "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
        "HELIX_WORKERS": "0",
    }  # fmt: skip
    done = run("-m", "pipelines.ingest", str(ROOT / "samples" / "refund-policy.txt"), **values)
    assert done.returncode == 0, done.stderr
    log: Path = tmp_path_factory.mktemp("served") / "log"
    with served(log, "serve", **values) as service:
        for _ in range(3):
            assert service.ask(QUESTION).status_code == 200
        yield service


class Peak:
    """The most that a process took while the block lasted, over what it took before, in MB."""

    def __init__(self, service: Service) -> None:
        self._process = psutil.Process(service.process.pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.before = self.most = self._now()

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def growth(self) -> float:
        return self.most - self.before

    def _now(self) -> float:
        return float(self._process.memory_info().rss) / MEGABYTE

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            self.most = max(self.most, self._now())


def _chat() -> bytes:
    """A chat of 2 MB in messages of a word each, the most objects that a body can hold."""
    said = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b."}] * 26_000
    messages = [*said, {"role": "user", "content": QUESTION}]
    return json.dumps({"model": "helix", "messages": messages}).encode()


def _ask_at_once(service: Service, count: int) -> float:
    """The growth of the server, in times of the bodies that are sent at once."""
    body, headers = _chat(), {"Content-Type": "application/json"}
    assert 1.5 * MEGABYTE < len(body) < 2 * MEGABYTE

    def ask(_: int) -> int:
        url = f"{service.url}/v1/chat/completions"
        return httpx.post(url, content=body, headers=headers, timeout=500).status_code

    with Peak(service) as peak, ThreadPoolExecutor(count) as pool:
        statuses = set(pool.map(ask, range(count)))
    assert statuses <= {200, 503} and 200 in statuses
    return (peak.growth - SLACK) / (count * len(body) / MEGABYTE)


def test_long_chats_at_once(service: Service) -> None:
    assert _ask_at_once(service, 24) < 5


@pytest.mark.soak
def test_two_hundred_long_chats_at_once(service: Service) -> None:
    assert _ask_at_once(service, 200) < 5


def _upload_at_once(service: Service, count: int, megabytes: int) -> float:
    """The growth of the server, in MB for each upload: a file is written as it comes."""
    part = b"The harbour of Ostend has a lighthouse, and a new pier. " * 18_725

    def upload(n: int) -> int:
        data = b"%d\n" % n + part * megabytes
        files = {"file": (f"{n}.txt", data)}
        return httpx.post(f"{service.url}/v1/documents", files=files, timeout=500).status_code

    with Peak(service) as peak, ThreadPoolExecutor(count) as pool:
        assert set(pool.map(upload, range(count))) == {202}
    return (peak.growth - SLACK) / count


def test_large_uploads_at_once(service: Service) -> None:
    assert _upload_at_once(service, 8, 24) < 4


@pytest.mark.soak
def test_forty_large_uploads_at_once(service: Service) -> None:
    assert _upload_at_once(service, 40, 24) < 4
