"""Prose to chunks of whole sentences, about 500 tokens each, overlapping by about 50.

LlamaIndex's SentenceSplitter finds a chunk's place by searching for its text, so a repeated
passage gets the first one's offset; here a chunk is a pair of offsets from the start.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    TextNode,
    TransformComponent,
)
from llama_index.core.utils import get_tokenizer

from helix.records import END_CHAR, ORDINAL, START_CHAR
from helix.text import sentence_spans

VERSION = "1"
"""Part of each document's recipe: raise it when the same text gives other chunks."""

TITLE = "title"
"""Metadata key of what is put in front of a chunk's text before it is embedded."""

_LONGEST_PIECE = 1200  # characters; tokenizers turn quadratic on runs without white space

Span = tuple[int, int]
Piece = tuple[int, int, int]  # start, end, tokens
Counter = Callable[[str], int]


class SentenceChunker(TransformComponent):
    """Documents to TextNodes that carry ordinal, start_char and end_char in their metadata.

    ``chunk_tokens`` is the most a chunk holds, ``overlap_tokens`` the most that it repeats of the
    one before, both in whole sentences and exact to a token or two; a longer sentence is cut
    between words. Node ids are a hash of source, text and occurrence: the same text of the same
    source keeps its id.
    """

    chunk_tokens: int = Field(500, ge=16)
    overlap_tokens: int = Field(50, ge=0)

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> list[BaseNode]:
        return [chunk for document in nodes for chunk in self._chunks(document)]

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        return await asyncio.to_thread(self, nodes, **kwargs)

    def _chunks(self, document: BaseNode) -> Iterator[BaseNode]:
        text = document.get_content(MetadataMode.NONE)
        source = document.as_related_node_info()  # hashes the whole text: once, not once a chunk
        seen: dict[str, int] = {}
        spans = chunk_spans(text, self.chunk_tokens, self.overlap_tokens)
        for ordinal, (start, end) in enumerate(spans):
            content = text[start:end]
            occurrence = seen[content] = seen.get(content, -1) + 1
            marks = {ORDINAL: ordinal, START_CHAR: start, END_CHAR: end}
            yield TextNode(
                id_=_node_id(str(document.metadata["source_uri"]), content, occurrence),
                text=content,
                start_char_idx=start,
                end_char_idx=end,
                metadata={**document.metadata, **marks},
                excluded_embed_metadata_keys=[*document.excluded_embed_metadata_keys, *marks],
                excluded_llm_metadata_keys=[*document.metadata, *marks],
                metadata_template="{value}",
                relationships={NodeRelationship.SOURCE: source},
            )


def _node_id(source_uri: str, content: str, occurrence: int) -> str:
    key = f"{source_uri}\x1f{occurrence}\x1f{content}"
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def chunk_spans(text: str, chunk_tokens: int, overlap_tokens: int) -> Iterator[Span]:
    """Half-open character spans of the chunks of ``text``, in order.

    They cover every character but white space between sentences, and neither start nor end with
    white space.
    """
    pieces = list(_pieces(text, chunk_tokens))
    first = 0
    while first < len(pieces):
        last, tokens = first, 0
        while last < len(pieces) and (last == first or tokens + pieces[last][2] <= chunk_tokens):
            tokens += pieces[last][2]
            last += 1
        yield pieces[first][0], pieces[last - 1][1]
        if last == len(pieces):
            return
        first = _overlap_start(pieces, first, last, overlap_tokens, chunk_tokens)


def _overlap_start(pieces: Sequence[Piece], first: int, last: int, most: int, room: int) -> int:
    """Where the next chunk starts: whole pieces back from ``last``, ``most`` tokens at most.

    They must leave room for the piece at ``last``, or a chunk would only repeat the one before.
    """
    most = min(most, room - pieces[last][2])
    start, tokens = last, 0
    while start - 1 > first and tokens + pieces[start - 1][2] <= most:
        start -= 1
        tokens += pieces[start][2]
    return start


def _pieces(text: str, chunk_tokens: int) -> Iterator[Piece]:
    """(start, end, tokens) of each sentence, or of parts of one that is too long.

    The tokens are those that the piece adds to the one before it, the white space between them
    included, or blank lines could make a chunk of any size.
    """
    tokenize = get_tokenizer()

    def count(part: str) -> int:
        return len(tokenize(part))

    before = 0
    for span in sentence_spans(text):
        for part in _cut(text, span, _LONGEST_PIECE):
            for start, end, tokens in _within(text, part, chunk_tokens, count):
                yield start, end, tokens + _gap_tokens(text[before:start], chunk_tokens, count)
                before = end


def _gap_tokens(gap: str, most: int, count: Counter) -> int:
    """What white space between two pieces adds, beyond the one character that `_within` counts."""
    if len(gap) <= 1:
        return 0
    return count(gap) if len(gap) <= _LONGEST_PIECE else most


def _within(text: str, span: Span, most: int, count: Counter) -> Iterator[Piece]:
    start, end = span
    # With the white space before it, which most tokenizers make a part of the word's token.
    tokens = count(text[start - 1 if start and text[start - 1].isspace() else start : end])
    if tokens <= most or end - start < 2:
        yield start, end, tokens
        return
    for part in _cut(text, span, (end - start + 1) // 2):
        yield from _within(text, part, most, count)


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
