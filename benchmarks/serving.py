"""Serving: ``/ask`` of the real application against a bare Starlette route, same frames.

Servers and load generator are processes of their own; rounds go to the servers in turn. The model
takes no time, so what remains is Helix's: routing, search, prompt, frames. A second Helix whose
embedding takes 5 ms and whose model takes 20 ms shows what is added to a first frame over the sum
of the three calls, taken from each request by itself.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpus
from benchmarks.corpus import ABSTRACTS, IDENTITY, Corpus, fill
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, p99, percentiles
from benchmarks.known_models import DELTAS
from benchmarks.load_generator import Round, Stream
from benchmarks.processes import LineProcess, stopping
from helix.store import ChunkStore

ADDED_MS = 5
MEMORY_GROWTH = 1.05
EMBED_SECONDS, MODEL_SECONDS = 0.005, 0.020
SEQUENTIAL = 25  # streams of a round that has one at a time
LEVELS = (1, 50, 200)


@dataclass
class ServerFigures:
    """Everything seen of one server at one level."""

    streams: list[Stream] = field(default_factory=list)
    wall: float = 0.0
    server_cpu: float = 0.0
    load_cpu: float = 0.0

    def column(self, name: str) -> list[float]:
        """One number of each stream."""
        return [getattr(stream, name) for stream in self.streams]


class Bench:
    """The load generator and the servers, by name."""

    def __init__(self, load: LineProcess, servers: dict[str, LineProcess]) -> None:
        self._load = load
        self._servers = servers
        self._ports = {name: int(process.hear()) for name, process in servers.items()}
        self._tag = 0

    def play(self, name: str, concurrent: int, measured: ServerFigures) -> None:
        """One round against server ``name``."""
        streams = SEQUENTIAL if concurrent == 1 else concurrent
        wanted = Round(
            port=self._ports[name], concurrent=concurrent, streams=streams, first_tag=self._tag
        )
        self._tag += streams
        cpu, started = self._servers[name].cpu, time.perf_counter()
        self._load.tell(json.dumps(wanted))
        played: dict[str, Any] = json.loads(self._load.hear())
        measured.wall += time.perf_counter() - started
        measured.server_cpu += self._servers[name].cpu - cpu
        measured.load_cpu += played["cpu"]
        measured.streams += [Stream(**stream) for stream in played["streams"]]

    def resident(self, name: str) -> float:
        """Resident memory of a server, MiB."""
        return float(self._servers[name].seen.memory_info().rss / 2**20)


async def run(options: Options, report: Report) -> None:
    """All levels, then what is added to a first frame, then memory."""
    papers = corpus.load_or_generate(options.data, min(ABSTRACTS, options.rows))
    rounds = 3 if options.quick else 12
    room = tempfile.TemporaryDirectory(prefix="helix-bench-")
    with server() as postgres, postgres.database() as url, room as folder:
        store = ChunkStore(url, IDENTITY)
        await fill(store, papers)
        await store.close()
        with _bench(url, papers, Path(folder)) as bench:
            _levels(bench, rounds, report)
            _added(bench, rounds, report)
            _memory(bench, rounds, report)


@contextmanager
def _bench(url: str, papers: Corpus, folder: Path) -> Iterator[Bench]:
    vectors = folder / "vectors.npy"
    np.save(vectors, papers.queries)
    instant = {
        "database_url": url, "vectors": str(vectors), "embed_seconds": 0.0, "model_seconds": 0.0
    }  # fmt: skip
    delayed = {**instant, "embed_seconds": EMBED_SECONDS, "model_seconds": MODEL_SECONDS}
    given: dict[str, dict[str, Any]] = {"bare": {}, "helix": instant, "delayed": delayed}
    with ExitStack() as stack:
        load = LineProcess("benchmarks.load_generator", folder / "load.log")
        stack.enter_context(stopping(load.child))
        servers = {}
        for name, argument in given.items():
            log = folder / f"{name}.log"
            servers[name] = LineProcess("benchmarks.server", log, json.dumps(argument))
            stack.enter_context(stopping(servers[name].child))
        yield Bench(load, servers)


def _levels(bench: Bench, rounds: int, report: Report) -> None:
    rows = []
    streams: list[Stream] = []
    for level in LEVELS:
        bare, helix = _in_turn(bench, ("bare", "helix"), level, rounds)
        rows += _level_rows(level, bare, helix)
        streams += bare.streams + helix.streams
    columns = ["streams", "server", "first p50 ms", "first p99", "total p50 ms", "total p99"]
    columns += ["first p50 / floor", "total p50 / floor", "server CPU", "generator CPU"]
    report.table(
        f"serving: {DELTAS} token frames and a citations frame a stream, {rounds} rounds in turn",
        columns,
        rows,
    )
    _judge_streams(report, streams)


def _in_turn(bench: Bench, names: tuple[str, ...], level: int, rounds: int) -> list[ServerFigures]:
    for name in names:  # connections opened, code paths warm
        bench.play(name, level, ServerFigures())
    measured = [ServerFigures() for _ in names]
    for number in range(rounds):
        order = list(zip(names, measured, strict=True))
        for name, one in order if number % 2 else reversed(order):
            bench.play(name, level, one)
    return measured


def _level_rows(level: int, bare: ServerFigures, helix: ServerFigures) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, one in (("bare Starlette (the floor)", bare), ("Helix /ask", helix)):
        first, total = one.column("first"), one.column("total")
        times = (p50(first), p99(first), p50(total), p99(total))
        ratios = (
            p50(first) / p50(bare.column("first")),
            p50(total) / p50(bare.column("total")),
        )
        busy = (one.server_cpu / one.wall, one.load_cpu / one.wall)
        rows.append(
            [level, name, *map(ms, times)]
            + [f"{ratio:.2f}" for ratio in ratios]
            + [f"{share:.0%}" for share in busy]
        )
    return rows


def _added(bench: Bench, rounds: int, report: Report) -> None:
    rows = []
    medians = {}
    for level in LEVELS[:2]:
        (measured,) = _in_turn(bench, ("delayed",), level, rounds)
        added = [stream.first - stream.spent for stream in measured.streams]
        medians[level] = p50(added)
        spent = p50(measured.column("spent"))
        rows.append([level, ms(spent), *percentiles(added)])
    report.table(
        f"serving: added to the first frame, embedding {EMBED_SECONDS * 1000:.0f} ms and model"
        f" {MODEL_SECONDS * 1000:.0f} ms",
        ["streams", "embedding + search + model p50 ms", "added p50 ms", "added p99 ms"],
        rows,
    )
    report.at_most("added to the first frame at p50, ms", medians[1] * 1000, ADDED_MS)


def _memory(bench: Bench, rounds: int, report: Report) -> None:
    """Rounds of the highest level; the levels before were the warm-up."""
    level = LEVELS[-1]
    resident, measured = [], ServerFigures()
    for _ in range(3 * rounds):
        bench.play("helix", level, measured)
        resident.append(bench.resident("helix"))
    before, after = p50(resident[:3]), p50(resident[-3:])
    report.table(
        f"serving: the server's resident memory over {len(resident)} rounds of {level} streams",
        ["first rounds MiB", "last rounds MiB", "highest MiB", "growth"],
        [[f"{before:.1f}", f"{after:.1f}", f"{max(resident):.1f}", f"{after / before:.3f}"]],
    )
    report.at_most("resident memory, last rounds / first rounds", after / before, MEMORY_GROWTH)
    _judge_streams(report, measured.streams)


def _judge_streams(report: Report, streams: Sequence[Stream]) -> None:
    broken = [stream.problem for stream in streams if stream.problem]
    for problem in sorted(set(broken)):
        print(f"\nbroken stream: {problem} ({broken.count(problem)} times)")
    what = f"of {len(streams)} streams, cut, mixed or without their own citations frame"
    report.at_most(what, len(broken), 0)


if __name__ == "__main__":
    main({"serving": run})
