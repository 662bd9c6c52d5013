"""LanceDB, which has no server: a table in a folder, with its vector and full-text indexes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
from contender import TOP_K, main
from lancedb.rerankers import RRFReranker


class Lance:
    """One table; the database of the URL is not used."""

    def __init__(self, url: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._database = lancedb.connect(Path(self._folder.name))

    def load(self, texts: list[str], vectors: list[list[float]]) -> None:
        flat = pa.array(np.asarray(vectors, dtype=np.float32).ravel())
        rows = pa.table({
            "id": [str(number) for number in range(len(texts))],
            "text": texts,
            "vector": pa.FixedSizeListArray.from_arrays(flat, 1536),
        })  # fmt: skip
        self._table = self._database.create_table("texts", rows)
        self._table.create_index(metric="cosine", index_type="IVF_HNSW_SQ")
        self._table.create_fts_index("text", use_tantivy=False)

    def dense(self, question: str, vector: list[float]) -> list[str]:
        found = self._table.search(vector).distance_type("cosine").limit(TOP_K)
        return [row["id"] for row in found.select(["id"]).to_list()]

    def hybrid(self, question: str, vector: list[float]) -> list[str]:
        found = (
            self._table.search(query_type="hybrid").vector(vector).text(question)
            .distance_type("cosine").rerank(RRFReranker()).limit(TOP_K)
        )  # fmt: skip
        return [row["id"] for row in found.to_list()]


main(Lance)
