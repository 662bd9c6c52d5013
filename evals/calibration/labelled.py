"""Labelled questions of one's own, read from a file."""

from __future__ import annotations

import json
from pathlib import Path

from evals.calibration.asked import COVERED, NEAR_MISS, Question
from helix.errors import BadRequest


def read_questions(file: Path) -> list[Question]:
    """Labelled questions, one JSON object a line: ``question``, ``covered``, and if any ``kind``
    and ``document``, a string or number: no question is judged by a fit to others of its document.

    Raises:
        BadRequest: it cannot be read, or a line is not of that form.
    """
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise BadRequest(f"{file} cannot be read: it must be UTF-8 text") from None
    folds: dict[str, int] = {}
    return [_labelled(line, n, folds) for n, line in enumerate(lines, 1) if line.strip()]


def _labelled(line: str, number: int, folds: dict[str, int]) -> Question:
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
    return Question(text, kind, -folds.setdefault(group, len(folds) + 1))
