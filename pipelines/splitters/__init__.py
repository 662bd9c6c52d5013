"""Splitters: a document's text to chunks, each an exact slice of it."""

from pipelines.splitters.chunker import (
    CONTEXT,
    SECTIONS,
    SOURCE_URI,
    TITLE,
    SectionChunker,
    chunk_spans,
)

__all__ = [
    "CONTEXT",
    "SECTIONS",
    "SOURCE_URI",
    "TITLE",
    "SectionChunker",
    "chunk_spans",
]
