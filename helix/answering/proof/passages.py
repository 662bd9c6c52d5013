"""One cited chunk, to be searched: for a claim's very words, its cells, and by its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from helix.answering.proof.cells import Rows
from helix.answering.proof.facts import Facts
from helix.answering.proof.model import NEGATION, Support
from helix.domain.context import Source
from helix.domain.records import Hit
from helix.language.sentences import Span, sentence_spans
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.words import WORD, copy_words, copy_words_in_place, plain_ascii

_LONGEST = 500  # characters of a piece of text to point at; as the offline answerer quotes
_OPENING = "\"'“‘«‹([{（「『$€£¥-−*_#§`"
_CLOSING = re.compile(
    r"(?:[ \u00a0\u202f]?[%‰°€$£¥])?(?:[ \u00a0\u202f](?=[.!?…]))?"
    r"[.!?…؟۔।॥。！？\"'”’»›)\]}）」』*_:;`]*"
)
_MARKS = " \t\u00a0\"'”’)]*_`|>•+-"
"""Marks that a sentence may have in front of it, a list's and a row's among them."""
_SENTENCE_END = ".!?…؟۔।॥。！？\n\r\v\f\x85\u2028\u2029"
_MOST_PLACES = 4  # where a statement's words may stand in one chunk, as far as it is looked at
_NOT_SPACE = re.compile(r"\S")


def is_placed(hit: Hit) -> bool:
    """True if a hit says where in its document it lies, and can be right."""
    start, end = hit.start_char, hit.end_char
    return start is not None and end is not None and end - start == len(hit.content)


class Passage:
    """A chunk's text; its sentences are found when first asked for."""

    def __init__(self, n: int, source: Source, hit: Hit) -> None:
        self.n = n
        self.hit = hit
        self.text = hit.content
        named = (source.title, *hit.heading_path, *hit.facts.values())
        self.title = " ".join(named)[:1000]

    def support(self, span: Span) -> Support:
        start, end = span
        at = self.hit.start_char or 0
        hit = self.hit
        quote = self.text[start:end]
        place = at + start, at + end
        return Support(self.n, hit.chunk_id, hit.document_id, *place, quote, hit.page, hit.label)

    @cached_property
    def _line(self) -> str:
        return " ".join(["", *self._folded, ""])

    @cached_property
    def _folded(self) -> list[str]:
        return _words_of(self.text)

    @cached_property
    def _plain(self) -> str:
        return plain_ascii(self.text) if self.text.isascii() else ""

    def copies(self, line: str, count: int) -> Iterator[Span]:
        """Places where ``count`` words follow one another; ``line`` has them with spaces around."""
        position = self._line.find(line) if count else -1
        for _ in range(_MOST_PLACES):
            if position < 0:
                return
            yield self._place(self._line.count(" ", 0, position), count)
            position = self._line.find(line, position + 1)

    def _place(self, first: int, count: int) -> Span:
        """From the start of word ``first`` to the end of the last of ``count`` words, at least 1.

        Only what is asked for is looked up: a list of all places takes longer than the search.
        """
        if not self.text.isascii():
            spans = [word.span() for word in islice(WORD.finditer(self.text), first, first + count)]
            return spans[0][0], spans[-1][1]
        whole = len(self._plain)
        rest = self._plain.split(None, first)[-1]
        last = rest.split(None, count - 1)[-1]
        return whole - len(rest), whole - len(last) + len(self._folded[first + count - 1])

    def widened(self, span: Span) -> tuple[Span, bool]:
        """The span with the punctuation of its ends, and whether it is of whole sentences."""
        start, end = span
        while start > 0 and self.text[start - 1] in _OPENING:
            start -= 1
        closing = _CLOSING.match(self.text, end, end + 40)
        end = closing.end() if closing else end
        return (start, end), self._begins(start) and self._ends(end)

    def _begins(self, start: int) -> bool:
        head = self.text[max(0, start - 200) : start]
        bare = head.rstrip(_MARKS)
        return (not bare and start <= 200) or bare[-1:] in _SENTENCE_END

    def _ends(self, end: int) -> bool:
        if end >= len(self.text) or self.text[end - 1] in _SENTENCE_END:
            return True
        following = _NOT_SPACE.search(self.text, end)
        return following is None or any(
            c in _SENTENCE_END for c in self.text[end : following.start()]
        )

    @cached_property
    def rows(self) -> Rows:
        """The rows of its tables that name their columns."""
        return Rows(self.text, self.title)

    @cached_property
    def units(self) -> list[Span]:
        """The sentences, long ones in pieces; characters of the chunk.

        A row of a table that has values is none: its words are no sentence (``rows``).
        """
        return [
            piece
            for span in sentence_spans(self.text)
            if span not in self.rows.spans
            for piece in _pieces(self.text, span)
        ]

    @cached_property
    def facts(self) -> list[Facts]:
        """Of each unit."""
        return [_facts_of(self.text[start:end]) for start, end in self.units]

    @cached_property
    def capitals(self) -> frozenset[str]:
        """Words written with a capital within sentences."""
        return frozenset().union(*(facts.capitals for facts in self.facts))


@text_cache(most_bytes=8 * MEBIBYTE, bytes_a_character=12)
def _words_of(text: str) -> list[str]:
    return copy_words_in_place(text)


@text_cache(most_bytes=32 * MEBIBYTE, bytes_a_character=60)
def _facts_of(text: str) -> Facts:
    """Facts of a sentence, kept for every answer that cites it; each is found at its first use."""
    return Facts(text)


def _pieces(text: str, span: Span) -> Iterator[Span]:
    """The span, or its parts of bearable length, cut at line breaks, semicolons or spaces."""
    start, end = span
    while end - start > _LONGEST:
        window = text[start : start + _LONGEST]
        cut = max(window.rfind("\n"), window.rfind("; ") + 1)
        if cut <= 0:
            cut = max(window.rfind(" "), 0) or _LONGEST
        yield start, start + len(window[:cut].rstrip())
        visible = _NOT_SPACE.search(text, start + cut, end)
        start = visible.start() if visible else end
    if start < end:
        yield start, end


class Exact(NamedTuple):
    """The spans that have a claim's words or values; or the problem of the cell that comes closest.

    Neither where the claim is no quote and none of its numbers is a value of a table.
    """

    supports: tuple[Support, ...] = ()
    problem: str | None = None


def exact(claim: Facts, passages: Sequence[Passage]) -> Exact:
    """The spans of one source, by its ``passages``, that are the claim's words or values."""
    words = copy_words(claim.text)
    line = " ".join(["", *words, ""])
    for passage in passages:
        if span := _copied(claim, passage, line, len(words)):
            return Exact((passage.support(span),))
    problem: str | None = None
    for passage in passages:
        proof = passage.rows.prove(claim.text) if passage.rows else None
        if proof and proof.spans:
            supports = tuple(map(passage.support, proof.spans))
            if not claim.negations or any(Facts(one.quote).negations for one in supports):
                return Exact(supports)
            problem = problem or NEGATION
        problem = problem or (proof.problem if proof else None)
    return Exact((), problem)


def _copied(claim: Facts, passage: Passage, line: str, count: int) -> Span | None:
    """The span of whole sentences that the claim copies word for word."""
    for place in passage.copies(line, count):
        span, whole = passage.widened(place)
        if not whole or not claim.says:
            continue
        copy = passage.text[slice(*span)]
        if copy.split() == claim.text.split() or claim.has_same_numbers(Facts(copy)):
            return span
    return None
