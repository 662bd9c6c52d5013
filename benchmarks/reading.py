"""Reading: PDF pages a second and memory beside an earlier reader, and images of pages over HTTP.

Each contender is a process of its own, all in turn, file by file; what counts is the processor time
of its best round, as other work takes the clock. The floor is pdfium's text of every page; the
reader of commit 3066d80, which gave pdfium's text alone, runs from the history of this repository,
and nothing of reading is judged where that does not have it. Images
are asked of a server on loopback: first as they are drawn, then from its cache, then by their tag.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from benchmarks import corpus, file_builders, timed_reader
from benchmarks.corpus import ABSTRACTS
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50
from benchmarks.processes import ROOT, LineProcess, environment
from benchmarks.server import in_thread
from benchmarks.timed_reader import FLOOR, READER, WITHOUT_TABLES
from helix.app import create_app
from helix.settings import load_settings

ROUNDS, QUICK_ROUNDS = 5, 1
REPORTS, QUICK_REPORTS = 5, 1  # quarterly reports of 25 to 90 pages, as filed
ABSTRACTS_AS_PROSE, QUICK_ABSTRACTS = 120, 20
IMAGES, QUICK_IMAGES = 40, 5
FIRST_MS, CACHED_MS = 60, 5
FORMER = "3066d80"
LEAST_OF_FORMER, MOST_OF_ITS_MEMORY = 0.7, 1.3
"""Pages a second without tables and peak memory, as shares of the former reader's."""
_OF_FORMER = ("db", "helix", "pipelines", "benchmarks/__init__.py")


@dataclass(frozen=True)
class Best:
    """A contender over some files: pages, the processor seconds of the best rounds, most MiB."""

    pages: int
    seconds: float
    peak: float


async def run(options: Options, report: Report) -> None:
    """Prose, then reports as filed where the data is there, then images of a file's pages."""
    count = QUICK_ABSTRACTS if options.quick else ABSTRACTS_AS_PROSE
    texts = corpus.load_or_generate(options.data, ABSTRACTS).texts[:count]
    most = QUICK_REPORTS if options.quick else REPORTS
    reports = sorted((options.data / "sec10q" / "docs").glob("*.pdf"))[: 4 * most : 4]
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    with tempfile.TemporaryDirectory() as room:
        prose = Path(room) / "prose.pdf"
        prose.write_bytes(file_builders.pdf(file_builders.sections(texts)))
        former = _former(Path(room) / FORMER)
        if former is None:
            print(f"the history has no {FORMER}: its reader is not beside, nothing is judged")
        for what, files in {"prose": [prose], "reports as filed": reports}.items():
            if files:
                _report_reading(report, what, _in_turn(Path(room), files, rounds, former))
        pages = QUICK_IMAGES if options.quick else IMAGES
        _report_images(report, _images(Path(room), (reports or [prose])[0], pages))


def _former(folder: Path) -> Path | None:
    """The former reader's code in ``folder``; None where the history does not have it."""
    folder.mkdir()
    git = shutil.which("git")
    if git is None:
        return None
    archive = [git, "-C", str(ROOT), "archive", FORMER, *_OF_FORMER]
    done = subprocess.run(archive, capture_output=True, check=False)
    if done.returncode:
        return None
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as packed:
        packed.extractall(folder, filter="data")
    shutil.copy(timed_reader.__file__, folder / "benchmarks")
    return folder


def _in_turn(
    room: Path, files: Sequence[Path], rounds: int, former: Path | None
) -> Mapping[str, Best]:
    """Each contender by name."""
    names = (FLOOR, *([FORMER] if former else []), WITHOUT_TABLES, READER)
    least: dict[tuple[str, Path], float] = {}
    pages: dict[Path, int] = {}
    peaks: dict[str, float] = {}
    with ExitStack() as stack:
        running = {name: stack.enter_context(_contender(name, room, former)) for name in names}
        for _ in range(rounds):
            for path in files:
                for name, process in running.items():
                    process.tell(str(path))
                    count, seconds, peak = process.hear().split()
                    pages[path], peaks[name] = int(count), float(peak)
                    key = name, path
                    least[key] = min(least.get(key, float("inf")), float(seconds))
    total = sum(pages.values())
    return {
        name: Best(total, sum(least[name, path] for path in files), peaks[name]) for name in names
    }


@contextmanager
def _contender(name: str, room: Path, former: Path | None) -> Iterator[LineProcess]:
    is_former = name == FORMER
    process = LineProcess(
        "benchmarks.timed_reader", room / f"{name}.log", READER if is_former else name,
        root=former if is_former and former else ROOT,
    )  # fmt: skip
    try:
        yield process
    finally:
        assert process.child.stdin
        process.child.stdin.close()
        process.child.wait(30)


def _report_reading(report: Report, what: str, done: Mapping[str, Best]) -> None:
    floor = done[FLOOR]
    report.table(
        f"reading: PDF, {what}, {floor.pages} pages, processor time",
        ["contender", "ms a page", "pages/s", "of the floor", "peak MiB"],
        [
            [
                name,
                ms(one.seconds / one.pages),
                f"{one.pages / one.seconds:.0f}",
                f"{one.seconds / floor.seconds:.2f}",
                f"{one.peak:.0f}",
            ]
            for name, one in done.items()
        ],
    )
    if former := done.get(FORMER):
        mine, of_former = done[WITHOUT_TABLES], f"of {FORMER}, {what}, tables not looked for"
        share = former.seconds / mine.seconds
        report.at_least(f"pages a second {of_former}", share, LEAST_OF_FORMER)
        report.at_most(f"peak memory {of_former}", mine.peak / former.peak, MOST_OF_ITS_MEMORY)


Asked = Mapping[str, tuple[list[float], float]]
"""The cost of pages by the way of asking: clock seconds of each, processor seconds of all."""


def _images(room: Path, path: Path, most: int) -> Asked:
    """Images of the first pages of a file whose bytes are kept."""
    (folder := room / "kept").mkdir()
    shutil.copy(path, folder)
    with server() as postgres, postgres.database() as url:
        ingest = [sys.executable, "-m", "pipelines.ingest", "--keep-files", str(folder)]
        subprocess.run(ingest, check=True, cwd=room, env=environment(url), capture_output=True)
        settings = load_settings(
            database_url=url, llm="offline", embedder="offline", workers=0, log_level="error"
        )
        with in_thread(create_app(settings)) as address, httpx.Client(base_url=address) as client:
            document = client.get("/v1/documents").json()["documents"][0]["id"]
            listed = client.get(f"/v1/documents/{document}/pages").json()["pages"]
            pages = [f"/v1/documents/{document}/pages/{n + 1}.png" for n in range(len(listed))]
            return _asked(client, pages[:most])


def _asked(client: httpx.Client, pages: Sequence[str]) -> Asked:
    tags: dict[str, str] = {}

    def whole(page: str) -> None:
        answer = client.get(page).raise_for_status()
        tags[page] = answer.headers["ETag"]

    def by_tag(page: str) -> None:
        if client.get(page, headers={"If-None-Match": tags[page]}).status_code != 304:
            raise RuntimeError(f"{page} changed while it was asked for")

    client.get(pages[0], params={"scale": 1}).raise_for_status()  # starts what draws
    return {
        "first, drawn": _timed(whole, pages),
        "again, from the cache": _timed(whole, pages),
        "again, by its tag (304)": _timed(by_tag, pages),
    }


def _timed(get: Callable[[str], None], pages: Sequence[str]) -> tuple[list[float], float]:
    seconds = []
    before = _processor_seconds()
    for page in pages:
        started = time.perf_counter()
        get(page)
        seconds.append(time.perf_counter() - started)
    return seconds, _processor_seconds() - before


def _processor_seconds() -> float:
    """Of this process and those below it, which have ended or not."""
    own = psutil.Process()
    return sum(sum(one.cpu_times()[:4]) for one in (own, *own.children(recursive=True)))


def _report_images(report: Report, asked: Asked) -> None:
    load = psutil.getloadavg()[0]
    report.table(
        f"reading: images of pages over HTTP, load average {load:.1f}; processor time is that of"
        " client, server and database",
        ["a page", "pages", "p50 ms", "processor ms each"],
        [
            [what, len(seconds), ms(p50(seconds)), ms(busy / len(seconds))]
            for what, (seconds, busy) in asked.items()
        ],
    )
    bounds = (FIRST_MS, CACHED_MS, CACHED_MS)
    for (what, (seconds, _)), bound in zip(asked.items(), bounds, strict=True):
        report.at_most(f"image of a page, {what}, p50 ms", 1000 * p50(seconds), bound)


if __name__ == "__main__":
    main({"reading": run})
