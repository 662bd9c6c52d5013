"""The records that a loader gives: documents, and questions with the spans that answer them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Span = tuple[int, int, int]
"""Place of the document, start and end of the span in its text, in characters. An end of -1: the
whole document."""


@dataclass(frozen=True)
class Document:
    """A document's title and whole text."""

    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question about the document at place ``document``, and the ``spans`` that answer it.

    Without spans the documents do not answer it. ``answers`` are the texts of the spans, where the
    set has them.
    """

    text: str
    document: int
    spans: tuple[Span, ...]
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuestionSet:
    """A data set: its name, its documents, and questions about them."""

    name: str
    documents: Sequence[Document]
    questions: Sequence[Question]


def answers(spans: Sequence[Span], document: int, start: int, end: int) -> bool:
    """True where characters ``start`` to ``end`` of ``document`` hold one of ``spans`` whole."""
    return any(
        where == document and (last < 0 or (start <= first and last <= end))
        for where, first, last in spans
    )


def json_lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a file that has one in each line."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
