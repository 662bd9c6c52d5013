"""sec10q: quarterly reports of companies as PDF, and questions whose sources are whole reports."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
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


@dataclass(frozen=True)
class ReportValue:
    """A question about the report ``file``, and the value as the set's answer prints it."""

    text: str
    file: str
    value: str


_VALUE = re.compile(
    r"[$€]\s?[\d,]+(?:\.\d+)?(?:\s(?:million|billion|thousand))?|\b\d[\d,.]*\s?%"
    r"|\b[\d,.]+\s(?:million|billion|shares)\b"
)
_MOST_VALUES = 2
_MOST_WORDS = 45
"""An answer with more is an account, not a value."""


def load_report_questions(data: Path) -> list[ReportQuestion]:
    """The questions of the set below the folder ``data``, in order."""
    files = [path.name for path in report_files(data)]
    questions = []
    for row in _rows(data):
        globs = [name.strip() for name in row["Source Docs"].split(",")]
        found = tuple(file for file in files if any(fnmatch(file, glob) for glob in globs))
        questions.append(ReportQuestion(row["Question"], found))
    return questions


def load_report_values(data: Path) -> Iterator[ReportValue]:
    """The questions about one report whose answer is short and has a value or two; the first."""
    files = [path.name for path in report_files(data)]
    for row in _rows(data):
        found = [file for file in files if fnmatch(file, row["Source Docs"].strip())]
        answer = re.split(r"\(?SOURCE", row["Answer"])[0].strip()
        sentence = re.split(r"(?<=[a-z\d)])\.\s", answer)[0]
        values = _VALUE.findall(sentence)
        short = len(answer.split()) <= _MOST_WORDS and 1 <= len(values) <= _MOST_VALUES
        if len(found) == 1 and short and row["Question Type"].startswith("Single"):
            yield ReportValue(row["Question"], found[0], values[0])


def _rows(data: Path) -> list[dict[str, str]]:
    with (data / "sec10q/qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def report_files(data: Path) -> list[Path]:
    """The reports, by name."""
    return sorted((data / "sec10q/docs").glob("*.pdf"))


def load_reports(data: Path, every: int = 1) -> list[Document]:
    """One report in ``every``, as Helix reads PDF."""
    paths = report_files(data)[::every]
    return [Document(path.stem, read("pdf", path.read_bytes()).text) for path in paths]
