"""A model's reply as items or parts of an outline; each object of its list is read by itself.

So the whole objects of a truncated list are used too, and objects that stand in no list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from helix.study.items import Card, Choice, Item, TrueFalse
from helix.study.maker import Part

_LIST = re.compile(r"\"items\"\s*:\s*\[|\[\s*(?=\{)")
"""The list of the schema, or the first one of objects: models give it names of their own."""
_ALONE = re.compile(r"(?=\{)")
_NEXT = re.compile(r"\}\s*,\s*(?=\{)")
_OPEN = re.compile(r"[\s,]*")
_MOST_READ = 200_000  # characters of a reply

Model = TypeVar("Model", bound=BaseModel)


class _Object(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class ChoiceObject(_Object):
    """A question of several options, as the model gives it."""

    question: str
    statement: str
    options: list[str]
    answer: int
    explanation: str

    def item(self) -> Item:
        return Choice(
            self.question, self.statement, tuple(self.options), self.answer, self.explanation
        )


class StatementObject(_Object):
    """A statement that is true or false."""

    statement: str
    truth: bool
    original: str
    explanation: str

    def item(self) -> Item:
        original = "" if self.truth else self.original
        return TrueFalse(self.statement, self.truth, original, self.explanation)


class CardObject(_Object):
    """A card."""

    front: str
    back: str

    def item(self) -> Item:
        return Card(self.front, self.back)


class LessonObject(_Object):
    """A lesson of a workshop's outline."""

    title: str
    points: list[str]
    sources: list[int]

    def part(self) -> Part:
        return Part(self.title, tuple(self.sources), tuple(self.points))


class NodeObject(_Object):
    """A node of a map; ``parent`` is -1 of its root."""

    label: str
    parent: int
    sources: list[int]

    def part(self) -> Part:
        parent = None if self.parent < 0 else self.parent
        return Part(self.label, tuple(self.sources), parent=parent)


class Choices(BaseModel):
    """The schema of a reply with questions, by which the model's service constrains it."""

    items: list[ChoiceObject]


class Statements(BaseModel):
    """The schema of a reply with statements."""

    items: list[StatementObject]


class Cards(BaseModel):
    """The schema of a reply with cards."""

    items: list[CardObject]


class Lessons(BaseModel):
    """The schema of a reply with lessons."""

    items: list[LessonObject]


class Nodes(BaseModel):
    """The schema of a reply with nodes."""

    items: list[NodeObject]


def items_in(
    reply: str, kind: type[ChoiceObject | StatementObject | CardObject]
) -> Iterator[Item | None]:
    """The items of a reply; None for each object that is truncated, malformed or lacks a field.

    A reply without an object gives one None.
    """
    for validated in _validated(reply, kind):
        yield validated.item() if validated else None


def parts_in(reply: str, kind: type[LessonObject | NodeObject]) -> list[Part | None]:
    """The parts of an outline in a reply; None for unreadable ones, as in items_in."""
    return [validated.part() if validated else None for validated in _validated(reply, kind)]


def _validated(reply: str, kind: type[Model]) -> Iterator[Model | None]:
    is_any = False
    for payload in _objects(reply[:_MOST_READ]):
        is_any = True
        try:
            yield kind.model_validate(payload)
        except ValidationError:
            yield None
    if not is_any:
        yield None


def _objects(reply: str) -> Iterator[Any]:
    """The objects of the reply's list, up to where it can be parsed; None for an unreadable one."""
    start = _LIST.search(reply) or _ALONE.search(reply)
    if start is None:
        return
    decoder, at = json.JSONDecoder(), start.end()
    while True:
        opening = _OPEN.match(reply, at)
        at = opening.end() if opening else at
        if at >= len(reply) or reply[at] == "]":
            return
        try:
            payload, at = decoder.raw_decode(reply, at)
            yield payload
        except (ValueError, RecursionError):
            yield None
            following = _NEXT.search(reply, at)
            if following is None:
                return
            at = following.end()
