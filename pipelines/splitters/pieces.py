"""The pieces of a text, sentences, lines and uncut blocks with their tokens, and chunks of them.

Where chunks begin depends on the text around, so that edits stay local. Filling each to the brim
from the start of a text would move every boundary after an edit (docs/decisions/0008). A long
section therefore falls into stretches first, at pieces whose place follows from the text near them
alone, and only the chunks of a stretch depend on each other.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from llama_index.core.utils import get_tokenizer
from tiktoken import Encoding

from helix.domain.records import Section
from helix.language.sentences import Span, sentence_spans

LONGEST_BLOCK = 8_000
"""Tokens of the longest block that is not cut; a longer one is data in a fence, cut at its lines.

An embedder reads the first 2,048 tokens or so of it: the vector stands for its beginning.
"""

_WINDOW = 1200  # characters; tokenizers turn quadratic on runs without white space
_CHARS_PER_TOKEN = 4  # of prose: more characters than this a token are not worth a try
_LINE = re.compile(r"[^\n]+")
_REACH = 2.5
"""Chunks on each side among which a stretch's first piece must be the least. Stretches have twice
that on average: the shorter they are, the fewer chunks an edit changes, and the more there are.
"""

Counter = Callable[[str], int]
Measured = tuple[int, int, int]  # start, end, tokens without the white space before


class Piece(NamedTuple):
    """A half-open span that starts and ends with a visible character and is not cut.

    ``tokens`` are those that it adds to the piece before it, the white space between them included,
    or blank lines could make a chunk of any size. ``breaks`` are the line ends in that white space.
    """

    start: int
    end: int
    tokens: int
    breaks: int


def pieces_of(text: str, section: Section, longest: int) -> list[Piece]:
    """The pieces of ``section``, in order: every visible character is in one of them.

    A section that fits in ``longest`` tokens is one piece. A sentence or line with more is cut
    between words, a block with more is not, up to LONGEST_BLOCK.
    """
    count = _counter()
    whole = _trim(text, (section.start, section.end))
    if whole[1] - whole[0] <= longest * _CHARS_PER_TOKEN:
        tokens = _count_windows(text, whole, count)
        if tokens <= longest:
            return [Piece(*whole, tokens, 0)] if tokens else []  # no tokens: nothing visible
    pieces: list[Piece] = []
    before = whole[0]
    gap_tokens = {"": 0, " ": 0, "\n": 0}  # of the few there are; the one is counted by `_within`
    for start, end, tokens in _sized(text, section, longest, count):
        gap = text[before:start]
        if gap not in gap_tokens:
            gap_tokens[gap] = _gap_tokens(gap, longest, count)
        pieces.append(Piece(start, end, tokens + gap_tokens[gap], gap.count("\n")))
        before = end
    return pieces


def _counter() -> Counter:
    """Tokens of a text as LlamaIndex counts them, a special token's spelling as any other text.

    Looking for those first is a sixth of the time, and no embedder takes them for more than text.
    """
    tokenize = get_tokenizer()
    encoding = getattr(getattr(tokenize, "func", None), "__self__", None)
    if isinstance(encoding, Encoding):
        tokenize = encoding.encode_ordinary
    return lambda part: len(tokenize(part))


def _sized(text: str, section: Section, longest: int, count: Counter) -> Iterator[Measured]:
    if section.rows:
        yield from _lines(text, (section.start, section.end), longest, count)
        return
    position = section.start
    for block in section.blocks:
        start, end = _trim(text, block)
        if position <= start < end <= section.end:
            yield from _sentences(text, (position, start), longest, count)
            yield from _block(text, (start, end), longest, count)
            position = end
    yield from _sentences(text, (position, section.end), longest, count)


def _sentences(text: str, span: Span, longest: int, count: Counter) -> Iterator[Measured]:
    offset = span[0]
    for start, end in sentence_spans(text[offset : span[1]]):
        yield from _parts(text, (offset + start, offset + end), longest, count)


def _block(text: str, span: Span, longest: int, count: Counter) -> Iterator[Measured]:
    tokens = _count_windows(text, span, count)
    if tokens <= LONGEST_BLOCK:
        yield *span, tokens
    else:
        yield from _lines(text, span, longest, count)


def _lines(text: str, span: Span, longest: int, count: Counter) -> Iterator[Measured]:
    for match in _LINE.finditer(text, *span):
        line = _trim(text, match.span())
        if line[0] < line[1]:
            yield from _parts(text, line, longest, count)


def _trim(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _count_windows(text: str, span: Span, count: Counter) -> int:
    """Tokens of a span of any length, in linear time; one too many at most a window."""
    start, end = span
    return sum(count(text[at : min(at + _WINDOW, end)]) for at in range(start, end, _WINDOW))


def _gap_tokens(gap: str, most: int, count: Counter) -> int:
    """The tokens of white space between two pieces; `_within` counts its first character."""
    if len(gap) <= 1:
        return 0
    return count(gap) if len(gap) <= _WINDOW else most


def _parts(text: str, span: Span, longest: int, count: Counter) -> list[Measured]:
    """``span`` in as few parts as its tokens and the tokenizer allow; nearly always itself."""
    if span[1] - span[0] <= _WINDOW:
        return _within(text, span, longest, count)
    if (tokens := _count_windows(text, span, count)) <= longest:
        return [(*span, tokens)]
    parts = _cut(text, span, _WINDOW)
    return [measured for part in parts for measured in _within(text, part, longest, count)]


def _within(text: str, span: Span, longest: int, count: Counter) -> list[Measured]:
    start, end = span
    # With the white space before it, which most tokenizers make a part of the word's token.
    tokens = count(text[start - 1 if start and text[start - 1].isspace() else start : end])
    if tokens <= longest or end - start < 2:
        return [(start, end, tokens)]
    halves = _cut(text, span, (end - start + 1) // 2)
    return [measured for half in halves for measured in _within(text, half, longest, count)]


def _cut(text: str, span: Span, longest: int) -> Iterator[Span]:
    """``span`` in parts of at most ``longest`` characters, cut after white space where there is."""
    start, end = span
    while end - start > longest:
        cut = next(
            (i for i in range(start + longest, start + longest // 2, -1) if text[i - 1].isspace()),
            start + longest,
        )
        stop = start + len(text[start:cut].rstrip())
        if stop > start:
            yield start, stop
        start = next((i for i in range(cut, end) if not text[i].isspace()), end)
    if end > start:
        yield start, end


def chunks_of(text: str, pieces: Sequence[Piece], most: int, overlap: int) -> Iterator[Span]:
    """Spans of chunks of ``most`` tokens at most, in order, that share ``overlap`` at most.

    Together they hold every piece. A piece of more tokens than ``most`` is a chunk by itself.
    """
    totals = [0, *accumulate(piece.tokens for piece in pieces)]
    room = max(most - overlap * 3 // 4, most // 2)  # overlaps, of whole pieces, fall short of most
    starts = _stretches(text, pieces, totals, round(most * _REACH))
    first = 0
    for begin, end in pairwise([0, *starts, len(pieces)]):
        fresh = begin
        while fresh < end:
            first = _overlap_start(pieces, first, fresh, overlap, most)
            last = _filled(totals, first, fresh, end, room, most)
            yield pieces[first].start, pieces[last - 1].end
            fresh = last


def _filled(totals: Sequence[int], first: int, fresh: int, end: int, room: int, most: int) -> int:
    """The end of the chunk that starts at ``first``: full, or the last two of a stretch alike."""
    if totals[end] - totals[first] <= most:
        return end
    left = totals[end] - totals[fresh]
    share = left / 2 if left <= 2 * room else most
    last = fresh + 1
    while last < end and totals[last + 1] - totals[first] <= most:
        middle = (totals[last] + totals[last + 1]) / 2
        if middle - totals[fresh] > share:
            break
        last += 1
    return last


def _overlap_start(pieces: Sequence[Piece], first: int, fresh: int, overlap: int, most: int) -> int:
    """The start of the chunk whose first new piece is ``fresh``: whole pieces back from there.

    It repeats ``overlap`` tokens at most and never all of the chunk before, which starts at
    ``first``; what it repeats must leave room for the new piece.
    """
    overlap = min(overlap, most - pieces[fresh].tokens)
    start, tokens = fresh, 0
    while start - 1 > first and tokens + pieces[start - 1].tokens <= overlap:
        start -= 1
        tokens += pieces[start].tokens
    return start


def _stretches(text: str, pieces: Sequence[Piece], totals: Sequence[int], reach: int) -> list[int]:
    """Pieces that start a stretch: the least within ``reach`` tokens on both sides.

    Least by what is in front of it (a paragraph before a line before a sentence), then by a hash
    of its text; of equals, the first. Both ends of the text are less than any. An edit can only
    change what lies within reach of it, wherever chunks began before it.
    """
    if totals[-1] <= 2 * reach:
        return []
    chosen = [True] * len(pieces)
    falling: list[int] = []  # pieces without a lesser one so far, each not less than the one before
    keys = [_order(text, piece) for piece in pieces]
    for here, key in enumerate(keys):
        while falling and keys[falling[-1]] > key:
            there = falling.pop()
            chosen[there] &= totals[here] - totals[there] > reach
        start = totals[falling[-1]] if falling else 0
        chosen[here] = totals[here] - start > reach
        falling.append(here)
    return [n for n, is_chosen in enumerate(chosen) if is_chosen and totals[-1] - totals[n] > reach]


def _order(text: str, piece: Piece) -> tuple[int, int]:
    content = text[piece.start : piece.end].encode("utf-8", "surrogatepass")
    return -min(piece.breaks, 2), zlib.crc32(content)
