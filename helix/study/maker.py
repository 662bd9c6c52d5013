"""What makes items of a passage: by rule, or a language model. Whoever asks examines them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from helix.domain.context import Source
from helix.study.items import Difficulty, Item, Kind
from helix.study.offline.cards import cards_of
from helix.study.offline.questions import IsFalse, questions_of
from helix.study.offline.values import Value, values_of
from helix.study.sentences import clear_sentences


@dataclass(frozen=True)
class Order:
    """What is to be made: of which kind, how hard, and of which passages altogether."""

    kind: Kind
    difficulty: Difficulty
    passages: Sequence[Source]

    @cached_property
    def values(self) -> list[Value]:
        """The values of all the passages, which wrong options are taken from."""
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
    """Makes items of one passage, as many as are taken of them, and outlines of several."""

    @property
    def identity(self) -> str:
        """The model; ``offline`` for none."""
        ...

    def items(
        self, order: Order, passage: Source, wanted: int, is_false: IsFalse
    ) -> AsyncIterator[Item | None]:
        """Candidates of ``passage``; None stands for one that could not even be read.

        Raises:
            UpstreamError: the model's service failed.
        """
        ...

    async def outline(
        self, kind: Kind, passages: Sequence[Source], wanted: int
    ) -> list[Part | None] | None:
        """At most ``wanted`` parts of a workshop or a map; None in it stands for an unreadable one.

        None altogether: this maker makes none, and the headings are the outline.

        Raises:
            UpstreamError: the model's service failed.
        """
        ...


class OfflineMaker:
    """Needs no model: what it makes is simple, deterministic, and in the documents' own words."""

    identity = "offline"

    async def items(
        self, order: Order, passage: Source, wanted: int, is_false: IsFalse
    ) -> AsyncIterator[Item | None]:
        """As Maker has it; it raises nothing of its own."""
        sentences = clear_sentences(passage)
        if order.kind == "cards":
            for card in cards_of(sentences):
                yield card
            return
        async for question in questions_of(sentences, order.values, order.difficulty, is_false):
            yield question

    async def outline(
        self, kind: Kind, passages: Sequence[Source], wanted: int
    ) -> list[Part | None] | None:
        """As Maker has it: none."""
        return None
