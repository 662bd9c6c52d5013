"""Pieces to chunks: where chunks begin depends on the text around, so that edits stay local.

Filling each chunk to the brim from the start of a text would move every boundary after an edit
(docs/decisions/0008). A long section therefore falls into stretches first, at pieces whose place
follows from the text near them alone, and only the chunks of a stretch depend on each other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from helix.language.sentences import Span
from pipelines.splitters.pieces import Piece

_REACH = 2.5
"""Chunks on each side among which a stretch's first piece must be the least. Stretches have twice
that on average: the shorter they are, the fewer chunks an edit changes, and the more there are.
"""


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
