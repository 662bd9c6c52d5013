"""Questions of our own over sec10q, each with its document, its pages and the value it asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("value_questions.json")
NATURAL = Path(__file__).with_name("natural_questions.json")


@dataclass(frozen=True)
class ValueQuestion:
    """A question, and where its value is printed.

    ``pages`` count from 1 and are those of ``document`` that state the value; ``elsewhere`` has
    those of other filings that state the same. The value is one of ``spans``, or one of
    ``numbers`` (value, scale), all of them where ``all``. ``row`` and ``column`` are the words of
    a table's cell.
    """

    id: str
    question: str
    document: str
    pages: tuple[int, ...]
    numbers: tuple[tuple[float, str], ...] = ()
    spans: tuple[str, ...] = ()
    all: bool = False
    row: str = ""
    column: str = ""
    elsewhere: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """(document, page) of every page that states the value."""
        others = ((name, page) for name, pages in self.elsewhere.items() for page in pages)
        return frozenset([*((self.document, page) for page in self.pages), *others])


@dataclass(frozen=True)
class NearMiss:
    """A question close to what the filings hold that they do not answer, and why they do not."""

    id: str
    question: str
    why: str


@cache
def value_questions() -> tuple[ValueQuestion, ...]:
    """The 60 that the filings answer."""
    return tuple(_question(one) for one in _read(FILE)["questions"])


@cache
def natural_questions() -> tuple[ValueQuestion, ...]:
    """The 20 that are asked in a browser, as an analyst or a journalist would ask them."""
    return tuple(_question(one) for one in _read(NATURAL)["questions"])


def _question(one: dict[str, Any]) -> ValueQuestion:
    return ValueQuestion(
        **one
        | {
            "pages": tuple(one["pages"]),
            "numbers": tuple((value, scale) for value, scale in one.get("numbers", ())),
            "spans": tuple(one.get("spans", ())),
            "elsewhere": {k: tuple(v) for k, v in one.get("elsewhere", {}).items()},
        }
    )


def _read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


@cache
def near_misses() -> tuple[NearMiss, ...]:
    """The 10 that they do not answer."""
    return tuple(NearMiss(**one) for one in _read(FILE)["near_misses"])
