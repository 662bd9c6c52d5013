"""Many distinct chunks of real text: windows of SciFact's sentences, with the offline embedder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

from benchmarks.corpus import Matrix, scifact_file
from benchmarks.harness import MissingData
from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.domain.scope import DEFAULT_TENANT
from helix.evidence.vectors import word_vectors
from helix.store import ChunkStore

IDENTITY = "benchmark:wordllama:1536"
SMALL = "small"
"""The tenant that has one chunk of a hundred; the rest are DEFAULT_TENANT's."""
_SIZES = (2, 3, 4, 5)  # sentences
_SENTENCE_END = re.compile(r"[.!?]\s+")


@dataclass(frozen=True)
class EmbeddedQuestion:
    """A question as the database is asked it."""

    text: str
    vector: Matrix


def questions(data: Path) -> list[EmbeddedQuestion]:
    """SciFact's claims; raises MissingData."""
    texts = [line["text"] for line in _lines(data, "queries.jsonl")]
    return [
        EmbeddedQuestion(text, vector) for text, vector in zip(texts, embedded(texts), strict=True)
    ]


def embedded(texts: list[str]) -> Matrix:
    """Vectors of the offline embedder, with zeros to the stored width."""
    own = word_vectors().embed(texts)
    return np.pad(own, ((0, 0), (0, EMBEDDING_DIMENSIONS - own.shape[1])))


async def fill_windows(store: ChunkStore, data: Path, rows: int) -> None:
    """Load ``rows`` chunks, the small tenant's among the others', and index them at the end.

    Raises:
        MissingData: SciFact is not below ``data``, or has too little text.
    """
    papers = list(_lines(data, "corpus.jsonl"))
    np.random.default_rng(7).shuffle(papers)
    left = {SMALL: rows // 100, DEFAULT_TENANT: rows - rows // 100}
    async with store.bulk_load():
        for paper in papers:
            tenant = SMALL if left[SMALL] and int(paper["_id"]) % 100 == 1 else DEFAULT_TENANT
            if spans := list(_windows(paper["text"]))[: left[tenant]]:
                left[tenant] -= len(spans)
                await store.of(tenant).write(*_document(paper, spans))
    if any(left.values()):
        raise MissingData(f"SciFact gives {rows - sum(left.values())} such chunks, not {rows}")
    with store.connection() as connection:
        connection.execute("SELECT fold_term_changes()")
        connection.execute("VACUUM ANALYZE")


def _document(
    paper: dict[str, str], spans: list[tuple[int, int]]
) -> tuple[DocumentRecord, list[TextNode]]:
    uri, text, title = f"scifact/{paper['_id']}", paper["text"], paper["title"] or "Untitled"
    vectors = embedded([f"{paper['title']}\n\n{text[start:end]}" for start, end in spans])
    source = RelatedNodeInfo(node_id="0")
    nodes = [
        TextNode(
            id_=f"{uri}-{ordinal}",
            text=text[start:end],
            embedding=vectors[ordinal].tolist(),
            metadata={"title": title, ORDINAL: ordinal, START_CHAR: start, END_CHAR: end},
            relationships={NodeRelationship.SOURCE: source},
        )
        for ordinal, (start, end) in enumerate(spans)
    ]
    return DocumentRecord(uri, title, "", "benchmark", text), nodes


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Runs of 2 to 5 sentences, from every sentence on."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)] + [len(text)]
    starts = [0, *ends[:-1]]
    for size in _SIZES:
        for first in range(len(starts) - size + 1):
            start, end = starts[first], ends[first + size - 1]
            yield start, start + len(text[start:end].rstrip())


def _lines(data: Path, name: str) -> Iterator[dict[str, str]]:
    with scifact_file(data, name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
