"""Several processes behind nginx: streams, leaving clients, forged addresses, kills and reloads."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.proxy import proxied
from tests.support.repository import ROOT
from tests.support.server_processes import children, served
from tests.support.service_process import Service, eventually, run
from tests.support.wire.gemini import GeminiWire, gemini_wire
from tests.support.wire.gemini_replies import Answer

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
QUESTION = "How long do I have to request a refund?"
PROCESSES = 3
LIMIT = 90  # requests a minute of an address: divided among the processes


def _values(wire: GeminiWire, database_url: str) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url, "HELIX_EMBEDDER": "offline", "HELIX_LLM": "gemini",
        "GEMINI_API_KEY": "wire-test-key", "GOOGLE_GEMINI_BASE_URL": wire.base_url,
        "HELIX_WORKERS": "0", "HELIX_SUGGESTIONS": "off",
    }  # fmt: skip


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    with gemini_wire() as wire:
        yield wire


@pytest.fixture(scope="module")
def service(
    wire: GeminiWire, module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """Three processes over the policy, whose model is the wire."""
    values = _values(wire, module_database_url)
    done = run("-m", "pipelines.ingest", str(ROOT / "samples" / "refund-policy.txt"), **values)
    assert done.returncode == 0, done.stderr
    log = tmp_path_factory.mktemp("served") / "log"
    command = ("serve", "--processes", str(PROCESSES))
    with served(log, *command, **values) as service:
        yield service


@pytest.fixture(scope="module")
def proxy(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with proxied(service.url, tmp_path_factory.mktemp("nginx")) as address:
        yield address


def _ask(address: str) -> tuple[str, list[object] | None]:
    """The text of an answer, and its citations; None where the stream was cut before them."""
    text, citations = "", None
    try:
        with httpx.stream("GET", f"{address}/ask", params={"q": QUESTION}, timeout=120) as told:
            if told.status_code != 200:
                return f"status {told.status_code}", None
            is_last = False
            for line in told.iter_lines():
                if line.startswith("event: citations"):
                    is_last = True
                elif line.startswith("data: ") and is_last:
                    citations = json.loads(line[6:])
                elif line.startswith("data: "):
                    text += json.loads(line[6:])["t"]
    except httpx.TransportError as error:
        return type(error).__name__, None
    return text, citations


def test_an_answer_comes_as_it_is_written(proxy: str, wire: GeminiWire) -> None:
    wire.script(Answer(("Refunds ", "within ", "30 days [1]."), delay=0.5), on="generate")
    with httpx.stream("GET", f"{proxy}/ask", params={"q": QUESTION}, timeout=60) as told:
        came = [time.monotonic() for line in told.iter_lines() if line.startswith("data: ")]
    assert len(came) >= 3 and came[-1] - came[0] > 0.4, "nginx kept it until its end"


def test_two_hundred_streams_at_once_are_whole(proxy: str, wire: GeminiWire) -> None:
    with ThreadPoolExecutor(50) as pool:
        told = list(pool.map(lambda _: _ask(proxy), range(200)))
    texts = {text for text, citations in told if citations}
    refused = [text for text, citations in told if not citations]
    assert len(texts) == 1 and set(refused) <= {"status 503"}
    assert len(refused) < 100


def test_a_client_that_leaves_ends_the_writing_behind_the_proxy(
    proxy: str, wire: GeminiWire
) -> None:
    before = wire.abandoned
    wire.script(Answer(("word ",) * 200 + ("end [1].",), delay=0.1), on="generate")
    with httpx.stream("GET", f"{proxy}/ask", params={"q": QUESTION}, timeout=60) as told:
        assert next(told.iter_lines()).startswith("data: ")
    assert eventually(lambda: wire.abandoned > before)


def test_links_lead_to_the_proxy(proxy: str, service: Service) -> None:
    body = {"model": "helix", "messages": [{"role": "user", "content": QUESTION}]}
    told = httpx.post(f"{proxy}/v1/chat/completions", json=body, timeout=60).json()
    assert told["citations"] and all(link.startswith(f"{proxy}/#/") for link in told["citations"])


def test_a_killed_process_cuts_its_own_streams_only(
    proxy: str, service: Service, wire: GeminiWire
) -> None:
    wire.script(*[Answer(("Refunds ",) * 20 + ("30 days [1].",), delay=0.1)] * 24, on="generate")
    with ThreadPoolExecutor(24) as pool:
        asked = [pool.submit(_ask, proxy) for _ in range(24)]
        time.sleep(1)
        busiest = max(_servers(service), key=lambda one: len(_statuses(one)))
        busiest.send_signal(signal.SIGKILL)
        ended = Counter(bool(citations) for _, citations in (each.result() for each in asked))
    assert ended[True] > 0 and ended[False] > 0, "some were of the others, and none looked whole"
    assert eventually(lambda: len(_servers(service)) == PROCESSES)
    assert eventually(lambda: bool(_ask(proxy)[1]))


def test_a_reload_under_load_refuses_nobody(proxy: str, service: Service) -> None:
    stopped, told = threading.Event(), Counter[str]()

    def ask() -> None:
        while not stopped.is_set():
            text, citations = _ask(proxy)
            told["whole" if citations else text] += 1

    before = {one.pid for one in _servers(service)}
    asking = [threading.Thread(target=ask) for _ in range(4)]
    for thread in asking:
        thread.start()
    os.kill(service.process.pid, signal.SIGHUP)
    renewed = eventually(lambda: before.isdisjoint({one.pid for one in _servers(service)}), 240)
    stopped.set()
    for thread in asking:
        thread.join()
    assert renewed and set(told) == {"whole"}, told


def _servers(service: Service) -> list[psutil.Process]:
    """The processes that listen."""
    return [one for one in children(service.process) if psutil.CONN_LISTEN in _statuses(one)]


def _statuses(process: psutil.Process) -> list[str]:
    """Of its connections; none of a process that has ended meanwhile."""
    with suppress(psutil.Error):
        return [each.status for each in process.net_connections("tcp")]
    return []


def test_a_forged_address_does_not_lift_the_limit_of_ones_own(
    wire: GeminiWire, module_database_url: str, tmp_path: Path, service: Service
) -> None:
    values = _values(wire, module_database_url) | {"HELIX_ADDRESS_REQUESTS": str(LIMIT)}
    command = ("serve", "--processes", str(PROCESSES))
    with served(tmp_path / "log", *command, **values) as limited, \
            proxied(limited.url, tmp_path) as proxy:  # fmt: skip
        statuses: Counter[int] = Counter()
        with _from("127.0.0.2") as one, _from("127.0.0.3") as other:
            for n in range(4 * LIMIT):
                forged = {"X-Forwarded-For": f"198.51.100.{n % 250}"}
                statuses[one.get(f"{proxy}/v1/about", headers=forged).status_code] += 1
            assert set(statuses) == {200, 429} and statuses[200] < 2 * PROCESSES * LIMIT
            assert other.get(f"{proxy}/v1/about").status_code == 200


def _from(address: str) -> httpx.Client:
    """A client at ``address`` of the loopback network."""
    return httpx.Client(transport=httpx.HTTPTransport(local_address=address), timeout=60)
