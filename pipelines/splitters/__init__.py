"""Splitters: a document's text to chunks, each an exact slice of it."""

from pipelines.splitters.section_splitter import (
    CONTEXT,
    FACTS_LINE,
    SECTIONS,
    SEED,
    SOURCE_URI,
    TITLE,
    SectionSplitter,
    chunk_spans,
)

__all__ = [
    "CONTEXT",
    "FACTS_LINE",
    "SECTIONS",
    "SEED",
    "SOURCE_URI",
    "TITLE",
    "SectionSplitter",
    "chunk_spans",
]
