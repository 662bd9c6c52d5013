"""Overload: 1,000 streams at once, five times what a server can answer, and a greedy tenant.

The real application with a model that takes a quarter of a second and a few places for answers, so
that a server's capacity is known and small: what is measured is what becomes of all the others.
Every whole answer is checked against its question.
"""

from __future__ import annotations

import http.client
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import numpy as np

from benchmarks import corpus
from benchmarks.corpus import ABSTRACTS, IDENTITY, Corpus, fill
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, p99
from benchmarks.load_generator import Round, Stream
from benchmarks.processes import LineProcess, stopping
from helix.store import ChunkStore

PLACES, MODEL_SECONDS = 32, 0.25
AT_ONCE, QUICK_AT_ONCE = 1000, 120
SECONDS, QUICK_SECONDS = 120, 4
TIMES = 5
REFUSED_MS, HEALTH_MS = 100, 100
GOODPUT, GREEDY, MEMORY_GROWTH = 0.9, 1.5, 1.05
_REFUSED = "status b'HTTP/1.1 503"
MODEST = "modest"
_QUESTION = json.dumps({"question": "tag1 what is known of it?", "tenant_id": MODEST}).encode()
_FIRST_TAG = 2  # of the streams: the model knows each question under way by its tag


@dataclass
class Outcome:
    """The outcome of the streams of some rounds."""

    whole: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, streams: list[Stream], seconds: float) -> None:
        """Count a round that took so many seconds."""
        self.seconds += seconds
        for stream in streams:
            if not stream.problem:
                self.whole.append(stream.total)
            elif stream.problem.startswith(_REFUSED):
                self.refused.append(stream.total)
            else:
                self.broken.append(stream.problem)


class Overloaded:
    """A server, the generator of its load, and what ``/healthz`` takes meanwhile."""

    def __init__(self, load: LineProcess, served: LineProcess) -> None:
        self._load, self._served = load, served
        self.port = int(served.hear())
        self.health: list[float] = []

    def play(self, outcome: Outcome, concurrent: int, streams: int, rate: float = 0.0) -> None:
        """One round: ``concurrent`` at a time, or ``rate`` a second whatever becomes of them.

        Each round asks the same questions: what the server keeps of words it has met is bounded by
        tens of MB, and would still be filling up after many rounds of ever new ones.
        """
        wanted = Round(
            port=self.port, concurrent=concurrent, streams=streams, first_tag=_FIRST_TAG, rate=rate
        )
        started = time.perf_counter()
        self._load.tell(json.dumps(wanted))
        played = json.loads(self._load.hear())
        outcome.add([Stream(**each) for each in played["streams"]], time.perf_counter() - started)

    @property
    def resident(self) -> float:
        """Resident memory of the server, MiB."""
        return float(self._served.seen.memory_info().rss / 2**20)

    @contextmanager
    def probed(self) -> Iterator[None]:
        """Ask ``/healthz`` 20 times a second while the block runs."""
        over = Event()

        def probe() -> None:
            while not over.wait(0.05):
                self.health.append(self.request("GET", "/healthz"))

        thread = Thread(target=probe)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def request(self, method: str, path: str, body: bytes | None = None) -> float:
        """Seconds of one request on a connection of its own; raises where it is not answered."""
        started = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            told = response.read()
            if response.status != 200:
                raise RuntimeError(f"{method} {path}: {response.status} {told[:200]!r}")
        finally:
            connection.close()
        return time.perf_counter() - started


async def run(options: Options, report: Report) -> None:
    """All three, one after the other, on one server."""
    papers = corpus.load_or_generate(options.data, min(ABSTRACTS, options.rows))
    with (
        tempfile.TemporaryDirectory(prefix="helix-bench-") as folder,
        server() as postgres,
        postgres.database() as url,
    ):
        store = ChunkStore(url, IDENTITY)
        await fill(store, papers)
        few = Corpus(papers.texts[:100], papers.vectors[:100], papers.queries)
        await fill(store.session(tenant=MODEST), few)
        await store.close()
        with _overloaded(url, papers, Path(folder)) as served:
            _burst(served, options, report)
            _sustained(served, options, report)
            _greedy(served, options, report)


@contextmanager
def _overloaded(url: str, papers: Corpus, folder: Path) -> Iterator[Overloaded]:
    vectors = folder / "vectors.npy"
    np.save(vectors, papers.queries)
    given = {
        "database_url": url, "vectors": str(vectors), "embed_seconds": 0.0,
        "model_seconds": MODEL_SECONDS, "answers": PLACES, "answers_waiting": PLACES,
    }  # fmt: skip
    with ExitStack() as stack:
        load = LineProcess("benchmarks.load_generator", folder / "load.log")
        stack.enter_context(stopping(load.child))
        served = LineProcess("benchmarks.server", folder / "server.log", json.dumps(given))
        stack.enter_context(stopping(served.child))
        yield Overloaded(load, served)


def _burst(served: Overloaded, options: Options, report: Report) -> None:
    """So many streams at once, again and again; the first round is the warm-up."""
    at_once, rounds = (QUICK_AT_ONCE, 3) if options.quick else (AT_ONCE, 10)
    served.play(Outcome(), at_once, at_once)
    before, outcome = served.resident, Outcome()
    with served.probed():
        for _ in range(rounds):
            served.play(outcome, at_once, at_once)
    growth = served.resident / before
    refused = outcome.refused or [0.0]
    report.table(
        f"overload: {at_once} streams at once, {rounds} rounds, {PLACES} places, {PLACES} wait",
        ["whole", "refused", "broken", "refused p50 ms", "p99", "/healthz p99 ms", "memory"],
        [[len(outcome.whole), len(outcome.refused), len(outcome.broken), ms(p50(refused)),
          ms(p99(refused)), ms(p99(served.health)), f"{growth:.3f}"]],
    )  # fmt: skip
    _judge_broken(outcome, report)
    report.at_most("refused, p99 ms", p99(refused) * 1000, REFUSED_MS)
    report.at_most("/healthz meanwhile, p99 ms", p99(served.health) * 1000, HEALTH_MS)
    report.at_most("memory after / before", growth, MEMORY_GROWTH)


def _sustained(served: Overloaded, options: Options, report: Report) -> None:
    """Play as many streams as have a place, then five times as many as were answered then."""
    seconds = QUICK_SECONDS if options.quick else SECONDS
    capacity = PLACES / MODEL_SECONDS
    peak, over = Outcome(), Outcome()
    served.play(peak, PLACES, int(capacity * min(seconds, 20)))
    best = len(peak.whole) / peak.seconds
    served.play(over, 0, int(best * TIMES * seconds), rate=best * TIMES)
    goodput = len(over.whole) / over.seconds
    report.table(
        f"overload: {TIMES} times the capacity for {seconds} s",
        ["load", "answers a second", "whole", "refused", "broken", "whole p50 ms"],
        [[name, f"{len(one.whole) / one.seconds:.1f}", len(one.whole), len(one.refused),
          len(one.broken), ms(p50(one.whole or [0.0]))]
         for name, one in (("capacity", peak), (f"{TIMES} times", over))],
    )  # fmt: skip
    for one in (peak, over):
        _judge_broken(one, report)
    report.at_least("goodput at five times / at capacity", goodput / best, GOODPUT)


def _greedy(served: Overloaded, options: Options, report: Report) -> None:
    """A question now and then, alone and while another tenant asks all the time."""
    questions = 10 if options.quick else 60

    def asked() -> list[float]:
        return [served.request("POST", "/v1/query", _QUESTION) for _ in range(questions)]

    alone, outcome = asked(), Outcome()
    crowd = Thread(target=served.play, args=[outcome, 2 * PLACES - 1, 40 * questions])
    crowd.start()
    beside = asked()
    crowd.join()
    report.table(
        "overload: one tenant's question while another has every place",
        ["", "p50 ms", "p99 ms"],
        [[name, ms(p50(taken)), ms(p99(taken))]
         for name, taken in (("alone", alone), ("beside it", beside))],
    )  # fmt: skip
    _judge_broken(outcome, report)
    report.at_most("beside a greedy tenant / alone, p50", p50(beside) / p50(alone), GREEDY)


def _judge_broken(outcome: Outcome, report: Report) -> None:
    for problem in sorted(set(outcome.broken)):
        print(f"\nbroken stream: {problem} ({outcome.broken.count(problem)} times)")
    report.at_most("streams cut, mixed or failed otherwise", len(outcome.broken), 0)


if __name__ == "__main__":
    main({"overload": run})
