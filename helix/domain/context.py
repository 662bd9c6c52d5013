"""Context: the hits of a question as the numbered sources of its prompt, within a budget. Pure.

Hits are taken best first, and none gives way to a later one. What only repeats another source, in
whatever document, is left out. Of more than a few hits, those that overlap or touch in their
document become one source, so that no text stands in a prompt twice; a few stay as they are, each
its own chunk to cite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from helix.domain.contract import DEFAULT_TOP_K
from helix.domain.records import Hit
from helix.domain.relevance import SourcePlace
from helix.domain.tool_results import ToolResult
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.word_lists import word_lists

MAX_TOKENS = 6000
"""Tokens of all sources together; twelve chunks of 500."""
MAX_SOURCES = 12
APART = DEFAULT_TOP_K
"""Hits that stay apart although they touch: room is not short yet, and a chunk is a finer thing to
cite than a stretch of several."""

_WINDOW = 1200  # characters; tokenizers turn quadratic on runs without white space
_SHINGLE = 5  # words
_ALIKE = 0.85
"""Least Jaccard similarity of near-duplicates: of 300 words, four may be exchanged."""

_AROUND = "*|`“”„«»"  # not the straight quotes, which may stand for feet and inches
_AFTER = ".,;:!?…" + _AROUND
_LISTS = word_lists("words")
_NEGATIONS = _LISTS["negations"] | _LISTS["exceptions"]

Count = Callable[[str], int]


@dataclass(frozen=True)
class Source:
    """One numbered source: a hit, or several that are adjacent in their document, as one text.

    ``hit`` is the most relevant of them, which a citation of the source names; ``hits`` are all of
    them in the order of the document. ``content`` is ``documents.text[start_char:end_char]``;
    both are None where the hit does not say where it lies, or says it wrongly. ``counted`` is its
    number of tokens where that is known already.
    """

    hit: Hit
    hits: tuple[Hit, ...]
    content: str
    start_char: int | None
    end_char: int | None
    counted: int | None = field(default=None, compare=False, repr=False)

    @property
    def tokens(self) -> int:
        """``count_tokens`` of its content."""
        return count_tokens(self.content) if self.counted is None else self.counted

    @property
    def chunk_id(self) -> int:
        return self.hit.chunk_id

    @property
    def chunk_ids(self) -> list[int]:
        """The ids of its chunks in the order of the document; none of a tool's result."""
        return [hit.chunk_id for hit in self.hits if not hit.tool]

    @property
    def document_id(self) -> int:
        return self.hit.document_id

    @property
    def title(self) -> str:
        return self.hit.title

    @property
    def tool(self) -> ToolResult | None:
        """The tool's result that it is; None of a passage."""
        return self.hit.tool

    @property
    def place(self) -> SourcePlace:
        """The source's place, by its most relevant hit."""
        return SourcePlace(self.hit.title, self.hit.heading_path, self.hit.facts)


def count_tokens(text: str) -> int:
    """Tokens of a text as LlamaIndex counts them, which the size of chunks is given in too.

    A special token's spelling counts as any other text. May be one more for each 1,200 characters.
    The first call loads the tokenizer (0.2 s, 43 MB); then a chunk of 500 tokens takes 0.3 ms, and
    nothing where it was counted a short while ago.
    """
    return _kept_count(text)


@text_cache(most_bytes=4 * MEBIBYTE, bytes_a_character=0)
def _kept_count(text: str) -> int:
    # a program that only asks a server counts nothing, and starts without LlamaIndex
    from llama_index.core.utils import get_tokenizer
    from tiktoken import Encoding

    tokenize = get_tokenizer()
    encoding = getattr(getattr(tokenize, "func", None), "__self__", None)
    if isinstance(encoding, Encoding):
        tokenize = encoding.encode_ordinary
    return sum(len(tokenize(text[at : at + _WINDOW])) for at in range(0, len(text), _WINDOW))


def sources_of(
    hits: Sequence[Hit],
    *,
    max_tokens: int = MAX_TOKENS,
    max_sources: int = MAX_SOURCES,
    count: Count = count_tokens,
    apart: int = APART,
) -> list[Source]:
    """The sources that ``hits``, best first, make: most relevant first, each by its best hit.

    A hit is left out whole where it repeats a source or does not fit; a later, smaller one may
    come in. The first always comes in, however long. What a hit shares with its source counts
    once, and a source of several counts as the sum of its parts. The numbering around the sources
    is not counted.

    Slices of one document are joined where one starts at or before the end of the other and both
    agree on what they share. White space between two is unknown here, so they stay two sources.

    Args:
        hits: of any documents; the same chunk may come twice.
        max_tokens: of all sources together, by ``count``.
        max_sources: sources at most.
        count: tokens of a text, 0 or more.
        apart: of so many hits, or fewer, none are joined.
    """
    context = _Context(max_tokens, max_sources, count, joins=len(hits) > apart)
    for hit in hits:
        context.offer(hit)
    return context.sources


class _Slice(NamedTuple):
    """A text with its place in its document: it starts at ``start``."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class _Context:
    """The sources taken so far, and the rest of the budget."""

    def __init__(self, max_tokens: int, max_sources: int, count: Count, *, joins: bool) -> None:
        self._joins = joins
        self.sources: list[Source] = []
        self._left = max_tokens
        self._max_sources = max_sources
        self._count = count
        self._seen: set[int] = set()

    def offer(self, hit: Hit) -> None:
        """Take the hit if it says something new and fits."""
        if hit.chunk_id in self._seen:
            return
        self._seen.add(hit.chunk_id)
        start, end = hit.start_char, hit.end_char
        if start is None or end is None or end - start != len(hit.content):
            start = end = None
        offered = Source(hit, (hit,), hit.content, start, end)
        joining, whole = self._joining(offered)
        if not joining and self.sources and len(self.sources) >= self._max_sources:
            return
        cost = sum(map(self._count, _fresh(offered, joining)))
        if self.sources and cost > max(self._left, 0):
            return
        if self._repeats(offered):  # last, as it takes the longest
            return
        self._left -= cost
        if not joining and self._count is count_tokens:
            whole = replace(whole, counted=cost)
        if not joining:
            self.sources.append(whole)
            return
        first, *others = joining
        left = [source for source in self.sources if source not in others]
        self.sources = [whole if source is first else source for source in left]

    def _joining(self, offered: Source) -> tuple[list[Source], Source]:
        """The sources, best first, that the offered one is of one stretch with, and that stretch.

        Several where it fills the gap between them.
        """
        joining, whole = [], offered
        for source in self.sources if self._joins else ():
            if _shared(source, whole) is not None:
                joining.append(source)
                whole = _join(source, whole) if len(joining) == 1 else _join(whole, source)
        return joining, whole

    def _repeats(self, offered: Source) -> bool:
        """True if a source says the same already, but for one that it shares characters with."""
        words = _words_of(offered.content)
        return any(
            words.repeat(_words_of(text))
            for source in self.sources
            if not _shared(offered, source)
            # A copy of a chunk is alike to that chunk; cut elsewhere, it is within the stretch.
            for text in {source.content, *(hit.content for hit in source.hits)}
        )


class _Words:
    """A text as words, to tell whether it only repeats another.

    Case, white space and the punctuation around words are left aside.
    """

    def __init__(self, text: str) -> None:
        words = [word.rstrip(_AFTER).lstrip(_AROUND) for word in text.split()]
        self._words = [word for word in words if word]
        self._line = " ".join(["", *self._words, ""]).lower()

    @cached_property
    def _facts(self) -> list[str]:
        """The words that distinguish texts which are otherwise the same, in order.

        Numbers, identifiers, signs such as € and <, names and negations: reports of two years,
        contracts with two parties and a rule and its exception are alike but for these.
        """
        return [
            word
            for word in self._words
            if not word.isalpha() or word != word.lower() or word in _NEGATIONS
        ]

    @cached_property
    def _shingles(self) -> frozenset[int]:
        """Hashes of all runs of five words; none of a shorter text."""
        words = self._line.split()
        return frozenset(map(hash, zip(*(words[n:] for n in range(_SHINGLE)), strict=False)))

    def repeat(self, other: _Words) -> bool:
        """True if ``other`` has all of this text, or nearly, and the same facts.

        A text that has this one and much more does not count as its repetition.
        """
        if len(self._line) <= len(other._line) and self._line in other._line:
            return True
        # Lengths first: with one below it, the similarity cannot be so high but by repetitions.
        mine, theirs = len(self._words), len(other._words)
        if min(mine, theirs) < max(mine, theirs) * _ALIKE or self._facts != other._facts:
            return False
        common = len(self._shingles & other._shingles)
        together = len(self._shingles) + len(other._shingles) - common
        return common > 0 and common / together >= _ALIKE


@text_cache(most_bytes=16 * MEBIBYTE, bytes_a_character=24)
def _words_of(text: str) -> _Words:
    return _Words(text)


def _slice(source: Source) -> _Slice | None:
    return None if source.start_char is None else _Slice(source.start_char, source.content)


def _shared(one: Source, other: Source) -> int | None:
    """Characters that two slices of one text share, 0 where they touch; else None.

    None also where they differ on what they share: they are of different versions of a document.
    """
    if one.document_id != other.document_id:
        return None
    a, b = _slice(one), _slice(other)
    if a is None or b is None:
        return None
    first, second = sorted((a, b))
    common = min(first.end, second.end) - second.start
    if common < 0 or not first.text.startswith(second.text[:common], second.start - first.start):
        return None
    return common


def _join(better: Source, other: Source) -> Source:
    """The stretch of two sources that share characters or touch, cited as the better one."""
    slices = [part for part in (_slice(better), _slice(other)) if part]
    first, second = sorted(slices)
    whole = _Slice(first.start, first.text + second.text[max(first.end - second.start, 0) :])
    hits = sorted(better.hits + other.hits, key=lambda hit: (hit.start_char or 0, hit.ordinal))
    return Source(better.hit, tuple(hits), whole.text, whole.start, whole.end)


def _fresh(offered: Source, joining: Sequence[Source]) -> Iterator[str]:
    """The parts of the offered source that no source it joins has."""
    text, start = offered.content, offered.start_char or 0
    position = start
    for start_of, end_of in sorted((s.start_char or 0, s.end_char or 0) for s in joining):
        if position < start_of:
            yield text[position - start : start_of - start]
        position = end_of
    if position < start + len(text):
        yield text[position - start :]
