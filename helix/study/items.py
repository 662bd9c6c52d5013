"""Study items as values: questions, true-or-false statements, cards, lessons and map nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from helix.answering.proof import Support

BLANK = "____"
"""Stands in a statement for the words that are asked for."""
Kind = Literal["quiz", "cards", "workshop", "map"]
Difficulty = Literal["easy", "normal", "advanced"]
OPTIONS = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with OPTIONS answers, of which number ``key`` (from 0) is right.

    ``statement`` says what the question asks as one sentence, with one BLANK for the answer.
    """

    question: str
    statement: str
    options: tuple[str, ...]
    key: int
    explanation: str = ""
    kind: Literal["choice"] = "choice"

    def filled(self, option: int) -> str:
        """The statement with an option in its blank."""
        return self.statement.replace(BLANK, self.options[option])

    @property
    def text(self) -> str:
        """The text by which duplicates are found: the statement with the right option."""
        return self.filled(self.key)


@dataclass(frozen=True, slots=True)
class TrueFalse:
    """A statement that is true or not; ``original`` is the true one that it was changed from."""

    statement: str
    truth: bool
    original: str = ""
    explanation: str = ""
    kind: Literal["true_false"] = "true_false"

    @property
    def text(self) -> str:
        """The text by which duplicates are found: the true statement."""
        return self.statement if self.truth else self.original or self.statement


@dataclass(frozen=True, slots=True)
class Card:
    """A prompt, and a sentence that stands on its own and answers it."""

    front: str
    back: str
    kind: Literal["card"] = "card"

    @property
    def text(self) -> str:
        """The text by which duplicates are found: the back."""
        return self.back


@dataclass(frozen=True, slots=True)
class Lesson:
    """A part of a workshop before its text is written: its title and its points."""

    title: str
    points: tuple[str, ...] = ()
    kind: Literal["lesson"] = "lesson"

    @property
    def text(self) -> str:
        """The text by which duplicates are found: the title."""
        return self.title


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a map; ``parent`` is its parent's place in the map's list, None of the root."""

    label: str
    parent: int | None = None
    kind: Literal["node"] = "node"

    @property
    def text(self) -> str:
        """The text by which duplicates are found: the label."""
        return self.label


Item = Choice | TrueFalse | Card | Lesson | Node


@dataclass(frozen=True, slots=True)
class Proven:
    """An item with the spans that it rests on, one at least."""

    item: Item
    supports: tuple[Support, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item that is dropped; ``reason`` is one of helix.study.examination."""

    item: Item
    reason: str


@dataclass(slots=True)
class CheckedItems:
    """The result of one step of making a set; ``dropped`` counts dropped items by reason."""

    proven: list[Proven] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)

    def drop(self, reason: str, count: int = 1) -> None:
        """Count dropped items."""
        self.dropped[reason] = self.dropped.get(reason, 0) + count


def body_of(item: Item) -> dict[str, Any]:
    """An item as the column ``study_items.body`` keeps it."""
    body = asdict(item)
    del body["kind"]
    return body


def item_of(kind: str, body: dict[str, Any]) -> Item:
    """The item of a row's ``kind`` and ``body``; other keys of the body are passed over."""
    makers: dict[str, type[Choice | TrueFalse | Card | Lesson | Node]] = {
        "choice": Choice, "true_false": TrueFalse, "card": Card, "lesson": Lesson, "node": Node,
    }  # fmt: skip
    maker = makers[kind]
    values = {name: _as_tuple(body[name]) for name in maker.__dataclass_fields__ if name in body}
    return maker(**values)


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
