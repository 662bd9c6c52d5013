"""Helix's ChunkStore: a first load with its indexes, and its two searches."""

from __future__ import annotations

import asyncio

import numpy as np
import psycopg
from contender import TOP_K, main

from benchmarks.corpus import IDENTITY, Corpus, fill
from helix.domain.records import Hit
from helix.store import ChunkStore


class Helix:
    """The store in an event loop of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._store = ChunkStore(url, IDENTITY)
        self._loop = asyncio.new_event_loop()
        self._rows: dict[int, str] = {}

    def load(self, texts: list[str], vectors: list[list[float]]) -> None:
        stored = np.asarray(vectors, dtype=np.float32)
        self._loop.run_until_complete(fill(self._store, Corpus(texts, stored, stored[:1])))
        with psycopg.connect(self._url) as connection:
            found = connection.execute("SELECT id, node_id FROM chunks").fetchall()
        self._rows = {number: str(int(node, 16)) for number, node in found}

    def dense(self, question: str, vector: list[float]) -> list[str]:
        return self._named(self._loop.run_until_complete(self._store.search(vector, TOP_K)))

    def hybrid(self, question: str, vector: list[float]) -> list[str]:
        search = self._store.search_hybrid(question, vector, TOP_K)
        return self._named(self._loop.run_until_complete(search).hits)

    def _named(self, hits: list[Hit]) -> list[str]:
        return [self._rows[hit.chunk_id] for hit in hits]


main(Helix)
