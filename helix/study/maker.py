"""Makers of items from a passage, by rule or by a language model; the caller examines the items."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from helix.domain.context import Source
from helix.study.items import Difficulty, Item, Kind
from helix.study.offline.questions import IsFalse, cards_of, questions_of
from helix.study.offline.values import Value, values_of
from helix.study.sentences import clear_sentences


@dataclass(frozen=True)
class Order:
    """An order of items: their kind, their difficulty, and all passages of the set."""

    kind: Kind
    difficulty: Difficulty
    passages: Sequence[Source]

    @cached_property
    def values(self) -> list[Value]:
        """The values in all the passages, from which wrong options are taken."""
        return [
            value
            for passage in self.passages
            for sentence in clear_sentences(passage)
            for value in values_of(sentence)
        ]


@dataclass(frozen=True, slots=True)
class Part:
    """A lesson or a node of an outline, as a model proposes it.

    ``sources`` are the numbers of its passages, from 1; ``parent`` is a node's parent's place in
    the outline, from 0.
    """

    title: str
    sources: tuple[int, ...]
    points: tuple[str, ...] = ()
    parent: int | None = None


class Maker(Protocol):
    """Makes candidate items of one passage, and outlines of several passages."""

    @property
    def identity(self) -> str:
        """The model's identity; ``offline`` where items are made by rule."""
        ...

    def items(
        self, order: Order, passage: Source, limit: int, is_false: IsFalse
    ) -> AsyncIterator[Item | None]:
        """Candidates from ``passage``; None stands for an item that could not be read.

        Raises:
            UpstreamError: the model's service failed.
        """
        ...

    async def outline(
        self, kind: Kind, passages: Sequence[Source], limit: int
    ) -> list[Part | None] | None:
        """At most ``limit`` parts of a workshop or a map; None in the list is an unreadable part.

        None in place of a list: this maker makes no outlines, and headings are used.

        Raises:
            UpstreamError: the model's service failed.
        """
        ...


class OfflineMaker:
    """Makes items by rule: simple, deterministic, and in the documents' own words."""

    identity = "offline"

    async def items(
        self, order: Order, passage: Source, limit: int, is_false: IsFalse
    ) -> AsyncIterator[Item | None]:
        """See Maker; raises nothing."""
        sentences = clear_sentences(passage)
        if order.kind == "cards":
            for card in cards_of(sentences):
                yield card
            return
        async for question in questions_of(sentences, order.values, order.difficulty, is_false):
            yield question

    async def outline(
        self, kind: Kind, passages: Sequence[Source], limit: int
    ) -> list[Part | None] | None:
        """None: outlines are made from headings."""
        return None
