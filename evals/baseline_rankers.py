"""Rankers to compare hybrid search with: bm25s, Postgres' full-text search, PGVectorStore.

Each gives, for every question, the places of the texts, best first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import psycopg
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.postgres import PGVectorStore
from snowballstemmer import stemmer

from evals.metrics.ranking import Ranking
from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.storage.packed_terms import K1, B

Tokenise = Callable[[str], list[str]]

# The words of a question joined by `or`, as PGVectorStore's hybrid mode joins them: joined by `and`
# hardly a question finds anything.
_FULL_TEXT = """
SELECT number FROM full_text,
    (SELECT replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery AS query) asked
WHERE words @@ query ORDER BY ts_rank(words, query) DESC, number LIMIT %s
"""


def english_tokens() -> Tokenise:
    """bm25s's own tokeniser with its English stop words, stemmed."""
    tokenize: Any = import_module("bm25s").tokenize
    stem = stemmer("english").stemWords

    def tokens(text: str) -> list[str]:
        options = {"stopwords": "en", "stemmer": stem, "show_progress": False}
        return list(tokenize([text], return_ids=False, **options)[0])

    return tokens


def bm25s(
    texts: Sequence[str], questions: Sequence[str], tokens: Tokenise, depth: int
) -> list[Ranking]:
    """bm25s with Lucene's formula and our parameters; each word of a question counts once."""
    index = import_module("bm25s").BM25(method="lucene", k1=K1, b=B)
    index.index([tokens(text) for text in texts], show_progress=False)
    rankings: list[Ranking] = []
    for question in questions:
        asked = list(dict.fromkeys(t for t in tokens(question) if t in index.vocab_dict))
        if not asked:
            rankings.append([])
            continue
        found, scores = index.retrieve([asked], k=min(depth, len(texts)), show_progress=False)
        rankings.append([int(n) for n, s in zip(found[0], scores[0], strict=True) if s > 0])
    return rankings


def full_text(
    url: str, texts: Sequence[str], questions: Sequence[str], depth: int
) -> list[Ranking]:
    """``ts_rank`` over ``to_tsvector('english', ...)``, in a table of its own."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE full_text (number integer PRIMARY KEY, words tsvector)")
        statement = "INSERT INTO full_text VALUES (%s, to_tsvector('english', %s))"
        connection.cursor().executemany(statement, list(enumerate(texts)))
        connection.execute("CREATE INDEX ON full_text USING gin (words)")
        return [
            [number for (number,) in connection.execute(_FULL_TEXT, (question, depth))]
            for question in questions
        ]


def stock(
    url: str, nodes: list[TextNode], asked: Sequence[tuple[str, list[float]]], depth: int
) -> Iterator[tuple[str, list[Ranking]]]:
    """PGVectorStore as it comes: its own table, its two modes. ``asked`` is text and vector.

    A node's id ends in ``-`` and its number.
    """
    address = "postgresql+psycopg" + url[url.index("://") :]
    store = PGVectorStore(
        connection_string=address, async_connection_string=address, table_name="stock",
        embed_dim=EMBEDDING_DIMENSIONS, hybrid_search=True, text_search_config="english",
    )  # fmt: skip
    store.add(list(nodes))
    modes = {"default": VectorStoreQueryMode.DEFAULT, "hybrid": VectorStoreQueryMode.HYBRID}
    for name, mode in modes.items():
        rankings: list[Ranking] = []
        for text, vector in asked:
            query = VectorStoreQuery(vector, depth, query_str=text, mode=mode, sparse_top_k=depth)
            ids = store.query(query).ids or []
            rankings.append([int(i.rpartition("-")[2]) for i in ids])
        yield name, rankings
