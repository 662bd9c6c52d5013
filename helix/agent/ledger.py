"""The ledger: every passage and result that a tool returned, once, under a number. Pure.

Its numbers are those of the sources in the prompt that the answer is written from. A passage that
no longer fits into that prompt gets no number: every number stands for text that the model sees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from helix.domain.aggregates import Computed
from helix.domain.context import Source, sources_of
from helix.domain.records import Hit, tool_hit
from helix.domain.tool_results import ToolResult

MAX_SOURCES = 24
"""Sources of one answer: twice those of a single search, for a question of several parts."""
MAX_TOKENS = 12_000
"""Tokens of all sources together, as helix.domain.context counts them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One source of the ledger: its ``number`` from 1, and the number of the call that found it.

    The distance of its hit is a cosine distance, 0 to 2, or NaN where it was not measured.
    """

    number: int
    source: Source
    call: int

    @property
    def hit(self) -> Hit:
        """The passage; a ledger's source is always one chunk."""
        return self.source.hit


class Ledger:
    """The sources and calculations of one answer, in the order in which tools found them.

    ``calculations`` are those over numbers of passages, which an answer writes out; the result of
    any other calculation is a source of its own.
    """

    def __init__(self, max_sources: int = MAX_SOURCES) -> None:
        self.entries: list[Entry] = []
        self.calculations: list[Computed] = []
        self._left_out = set[int]()
        self._numbers: dict[int, int] = {}
        self._max_sources = max_sources
        self._tokens_left = MAX_TOKENS

    def add(self, hit: Hit, call: int) -> int | None:
        """The number of ``hit``, found by call number ``call``; None where there is no room for it.

        A chunk that is in the ledger already keeps its number, its call and its distance.
        """
        if existing := self._numbers.get(hit.chunk_id):
            return existing
        (source,) = sources_of([hit])
        full = len(self.entries) >= self._max_sources
        if full or (self.entries and source.tokens > self._tokens_left):
            self._left_out.add(hit.chunk_id)
            return None
        self._tokens_left -= source.tokens
        number = len(self.entries) + 1
        self._numbers[hit.chunk_id] = number
        self.entries.append(Entry(number, source, call))
        return number

    def add_result(self, result: ToolResult, call: int) -> int | None:
        """The number of a tool's result, as ``add`` has it; the same result is one source."""
        for entry in self.results:
            if entry.hit.tool == result:
                return entry.number
        return self.add(tool_hit(result, len(self.results) + 1), call)

    @property
    def left_out(self) -> int:
        """The number of passages that were found when there was no room for them."""
        return len(self._left_out - self._numbers.keys())

    @property
    def results(self) -> list[Entry]:
        """The entries that are results of tools."""
        return [entry for entry in self.entries if entry.hit.tool]

    def leave_passages_out(self) -> dict[int, int]:
        """Keep the results of tools alone, numbered anew; returns their new numbers by their old.

        Passages that did not pass the gate may not be answered from, though a result may.
        """
        kept = self.results
        self.entries = [replace(entry, number=n) for n, entry in enumerate(kept, 1)]
        numbers = {old.number: new.number for old, new in zip(kept, self.entries, strict=True)}
        self._numbers = {entry.hit.chunk_id: entry.number for entry in self.entries}
        return numbers

    @property
    def sources(self) -> list[Source]:
        """The sources of the answer: number n at index n - 1."""
        return [entry.source for entry in self.entries]
