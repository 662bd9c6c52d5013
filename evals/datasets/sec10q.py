"""sec10q: quarterly reports of companies as PDF, and questions whose sources are whole reports."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from evals.datasets.records import Document
from pipelines.readers import read


@dataclass(frozen=True)
class ReportQuestion:
    """A question and the file names of the reports that answer it."""

    text: str
    files: tuple[str, ...]


def load_report_questions(data: Path) -> list[ReportQuestion]:
    """The questions of the set below the folder ``data``, in order."""
    files = [path.name for path in report_files(data)]
    with (data / "sec10q/qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    questions = []
    for row in rows:
        globs = [name.strip() for name in row["Source Docs"].split(",")]
        found = tuple(file for file in files if any(fnmatch(file, glob) for glob in globs))
        questions.append(ReportQuestion(row["Question"], found))
    return questions


def report_files(data: Path) -> list[Path]:
    """The reports, by name."""
    return sorted((data / "sec10q/docs").glob("*.pdf"))


def load_reports(data: Path, every: int = 1) -> list[Document]:
    """One report in ``every``, as Helix reads PDF."""
    paths = report_files(data)[::every]
    return [Document(path.stem, read("pdf", path.read_bytes()).text) for path in paths]
