"""Formats: end-to-end chunks/s of each, by the real worker, the embedder's time taken out.

There is no floor to divide by but the cheapest format: what a format costs over plain text is its
reader and its shape. The embedder gives real vectors out of a list in hardly any time, which is
measured and taken out all the same.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import corpus, file_builders
from benchmarks.corpus import ABSTRACTS, Corpus
from benchmarks.database import Server, server
from benchmarks.harness import Options, Report, main
from benchmarks.timed_worker import STAGES, IngestFigures

FILES, QUICK_FILES = 24, 4
ABSTRACTS_A_FILE = 60  # about 90 KB of text
REPORTS, QUICK_REPORTS = 6, 1  # quarterly reports of 25 to 90 pages, as filed


@dataclass(frozen=True)
class Ingested:
    """One format: its files, their size, and what ingesting them took."""

    files: int
    size: int
    measured: IngestFigures

    @property
    def seconds(self) -> float:
        """Without the embedder's."""
        return self.measured.seconds - self.measured.busy["embed"]

    @property
    def rate(self) -> float:
        """Chunks a second."""
        return self.measured.chunks / self.seconds


async def run(options: Options, report: Report) -> None:
    """Every format after the other, each into a database of its own."""
    whole = corpus.load_or_generate(options.data, ABSTRACTS)
    count = QUICK_FILES if options.quick else FILES
    done: dict[str, Ingested] = {}
    with tempfile.TemporaryDirectory() as room, server() as postgres:
        np.save(vectors := Path(room) / "vectors.npy", whole.vectors)
        for kind, (folder, number, size) in _folders(Path(room), whole, count, options).items():
            done[kind] = Ingested(number, size, _ingest(postgres, vectors, folder))
    _report(report, done)


def _folders(
    room: Path, whole: Corpus, count: int, options: Options
) -> Mapping[str, tuple[Path, int, int]]:
    """Kind to (folder, files, bytes)."""
    texts = whole.texts[: count * ABSTRACTS_A_FILE]
    folders = {
        kind: (room / kind, count, file_builders.write_files(room / kind, kind, texts, count))
        for kind in file_builders.BUILDERS
    }
    most = QUICK_REPORTS if options.quick else REPORTS
    if reports := sorted((options.data / "sec10q" / "docs").glob("*.pdf"))[:most]:
        (folder := room / "reports").mkdir()
        for path in reports:
            shutil.copy(path, folder)
        size = sum(path.stat().st_size for path in reports)
        folders["pdf, reports as filed"] = (folder, len(reports), size)
    return folders


def _ingest(postgres: Server, vectors: Path, folder: Path) -> IngestFigures:
    with postgres.database() as url:
        given = {"database_url": url, "folder": str(folder), "vectors": str(vectors)}
        command = [sys.executable, "-m", "benchmarks.timed_worker", json.dumps(given)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    measured = IngestFigures(**json.loads(done.stdout))
    if measured.failed:
        raise RuntimeError("; ".join(measured.failed))
    return measured


def _report(report: Report, done: Mapping[str, Ingested]) -> None:
    text = done["text"]
    columns = ["format", "files", "MB", "chunks", "seconds", "chunks/s", "text MB/s", "of text"]
    report.table(
        "formats: from a folder to searchable, the embedder's time taken out",
        columns,
        [
            [
                kind,
                one.files,
                f"{one.size / 1e6:.1f}",
                one.measured.chunks,
                f"{one.seconds:.1f}",
                f"{one.rate:.0f}",
                f"{one.measured.characters / 1e6 / one.seconds:.2f}",
                f"{one.rate / text.rate:.2f}",
            ]
            for kind, one in done.items()
        ],
    )
    report.table(
        "formats: what each stage took of the whole; reading and writing go on side"
        " by side, so their sum may be over 100",
        ["format", *STAGES],
        [
            [
                kind,
                *(
                    f"{seconds / one.measured.seconds:.0%}"
                    for seconds in one.measured.busy.values()
                ),
            ]
            for kind, one in done.items()
        ],
    )


if __name__ == "__main__":
    main({"formats": run})
