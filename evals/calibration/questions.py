"""Questions to calibrate a gate with, by kind; and people's own, read from a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from evals.datasets.records import Span
from helix.errors import BadRequest

COVERED = "covered"
"""The documents answer the question."""
NEAR_MISS = "near miss"
"""It is of their topics and words, and they do not answer it."""
LEFT_OUT = "left out"
"""It is of a document that the search was kept from."""
FOREIGN = "foreign"
"""It is of other documents altogether; a name follows: ``foreign: covidqa``."""


@dataclass(frozen=True)
class GateQuestion:
    """A question of a ``kind``, about ``document`` (a number of its own set's).

    ``without`` are documents.id that the search leaves out; ``spans`` answer the question.
    """

    text: str
    kind: str
    document: int = 0
    without: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()


def read_questions(file: Path) -> list[GateQuestion]:
    """Labelled questions, one JSON object a line: ``question``, ``covered``, and if any ``kind``
    and ``document``, a string or number: no question is judged by a fit to others of its document.

    Raises:
        BadRequest: the file cannot be read, or a line is not of that form.
    """
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise BadRequest(f"{file} cannot be read: it must be UTF-8 text") from None
    folds: dict[str, int] = {}
    return [_labelled(line, n, folds) for n, line in enumerate(lines, 1) if line.strip()]


def _labelled(line: str, number: int, folds: dict[str, int]) -> GateQuestion:
    try:
        entry = json.loads(line)
        text, covered, document = entry["question"], entry["covered"], entry.get("document")
        if not isinstance(text, str) or not text.strip() or not isinstance(covered, bool):
            raise ValueError
        if not isinstance(document, str | int | None):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadRequest(
            f'line {number} is malformed: write {{"question": "…", "covered": true}}'
        ) from None
    kind = COVERED if covered else f"not {COVERED}: {entry.get('kind') or NEAR_MISS}"
    group = f"line {number}" if document is None else f"document {document}"
    # folds go by it; no document of the database is below 1
    return GateQuestion(text, kind, -folds.setdefault(group, len(folds) + 1))
