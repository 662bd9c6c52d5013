"""Searches of a scope: nearest vectors, or these and BM25 fused in one statement and round trip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
from pgvector import Vector

from helix.domain.gate import is_identifier
from helix.domain.records import Candidate, Hit, Place, SearchResult
from helix.domain.retrieval import LISTED, Fusion
from helix.domain.scope import Scope
from helix.language.terms import forms_elsewhere, question_words
from helix.storage.connections import Row
from helix.storage.packed_terms import key_of, language_key, slot_of
from helix.storage.statements.dense_search import dense_statement
from helix.storage.statements.hybrid_search import hybrid_statement

_Result = TypeVar("_Result")

Vector1536 = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]

_COLUMNS_AS_STORED = (
    "chunk_id", "document_id", "title", "source_uri", "ordinal", "content", "start_char",
    "end_char", "node_id", "distance", "version_id",
)  # fmt: skip
_MOST_TERMS = 64
_MOST_FORMS = 512
"""Forms of other languages that are asked for: a word has four to six of them in all."""
FEWER = 20
"""Chunks that are listed at first: the 30 more of LISTED take a tenth of the search."""
_MARGIN = 0.004
"""The most that two distances of unit vectors differ by at half precision, and not in full: each of
the vectors' numbers is off by 2**-11 of itself at most, and so is each of their lengths."""


@dataclass(frozen=True)
class Search(Generic[_Result]):
    """A search in ``scope`` that ChunkStore runs, with ``ef_search`` candidates of the index.

    The column ``identity`` of every row is the embedder that filled the database. Where ``widened``
    gives values for its rows, the rows of the same statement with these are the search's.
    """

    statement: str
    values: dict[str, Any]
    scope: Scope
    ef_search: int
    read: Callable[[list[Row]], _Result]
    widened: Callable[[list[Row]], dict[str, Any] | None] | None = None


def search_values(vector: Vector1536, top_k: int, listed: int, scope: Scope) -> dict[str, Any]:
    """The bound values of either search; ``listed`` is how many ``near`` brings."""
    return {
        "vector": vector_of(vector),
        "top_k": top_k,
        "listed": listed,
        "tenant": scope.tenant,
        **scope.filters(),
    }


def vector_of(numbers: Vector1536) -> Vector:
    """``numbers`` as they are bound; a list is packed as it is, an array costs a copy less."""
    if isinstance(numbers, list):
        return Vector(numbers)
    return Vector(np.asarray(numbers, dtype=np.float32))


def hit_of(row: Row) -> Hit:
    """A row with ``hits.COLUMNS``; what is not of the kind that Hit says is left out."""
    page, heading_path, label = _section_of(row)
    known = {column: row[column] for column in _COLUMNS_AS_STORED}
    facts = {name: fact for name, fact in row["facts"].items() if isinstance(fact, str)}
    return Hit(**known, page=page, heading_path=heading_path, label=label, facts=facts)


def place_of(row: Row) -> Place:
    """A row of STORED_PLACES as ``Hit.place`` has it."""
    return row["title"], row["start_char"], row["end_char"], *_section_of(row)


def _section_of(row: Row) -> tuple[int | None, tuple[str, ...], str]:
    page, path, label = row["page"], row["heading_path"], row["label"]
    return (
        page if type(page) is int else None,
        tuple(map(str, path)) if isinstance(path, list) else (),
        label if isinstance(label, str) else "",
    )


def hybrid_search(
    question: str,
    vector: Vector1536,
    top_k: int,
    scope: Scope,
    fusion: Fusion,
    ef_search: int,
    beside: Mapping[str, float] | None = None,
) -> Search[SearchResult]:
    """The ``top_k`` chunks of ``scope`` best by distance and BM25 together, best first.

    ``beside`` are further terms with their weights, where a term of the question weighs 1: they
    find, and count for nothing else that is told of the search.

    The index keeps half of ``ef_search``: what it misses BM25 mostly brings, with its distance. Of
    the first ten of 100,000 chunks 99.5% are those that comparing all gives, with the whole 100%.
    """
    values = search_values(vector, top_k, fusion.near, scope)
    values |= _term_values(question, scope.tenant, beside or {})
    values |= {
        "dense_weight": fusion.dense_weight, "rrf_k": fusion.rrf_k, "by_words": fusion.by_words,
    }  # fmt: skip
    statement = hybrid_statement(scope.narrowed_by)
    return Search(statement, values, scope, max(ef_search // 2, fusion.near), _result)


def _term_values(question: str, tenant: str, beside: Mapping[str, float]) -> dict[str, Any]:
    """The bound values of a question's terms, of its first 64 distinct ones, and of those beside.

    ``words`` numbers the word that each is a form of, and ``named`` says whether that word is an
    identifier; of a question of more terms none is, for the others could not be met. A form of
    another language counts where chunks have the key that ``languages`` has at its place; 0 is for
    all. A term beside is of no word: -1.
    """
    found = question_words(question)
    own = dict(list(found.items())[:_MOST_TERMS])
    names = {word for term, word in found.items() if is_identifier(term)}
    numbers = set(own.values())
    rows = [(term, 1.0, word, 0) for term, word in own.items()]
    rows += [(term, weight, -1, 0) for term, weight in beside.items() if term not in found]
    rows += [
        (term, 1.0, word, language_key(language, tenant))
        for term, word, language in islice(forms_elsewhere(question), _MOST_FORMS)
        if term not in beside and word in numbers
    ]
    keys = [key_of(term, tenant) for term, *_ in rows]
    return {
        "keys": keys,
        "slots": [slot_of(key) + 1 for key in keys],
        "weights": [weight for _, weight, _, _ in rows],
        "words": [word for _, _, word, _ in rows],
        "named": [len(found) <= _MOST_TERMS and word in names for _, _, word, _ in rows],
        "languages": [language for *_, language in rows],
    }


def _result(rows: list[Row]) -> SearchResult:
    if not rows:
        return SearchResult([], None)
    candidates = [
        Candidate(
            hit_of(row),
            fused=row["fused"],
            near_rank=row["near_rank"],
            score=row["score"],
            score_rank=row["score_rank"] if row["score"] else None,
            together=row["together"] or 0,
        )
        for row in rows
    ]
    first = rows[0]  # what is said of the whole search stands in every row
    return SearchResult(
        candidates,
        first["nearest"],
        words=first["words"],
        identifiers=first["identifiers"],
        frequencies=tuple(first["frequencies"] or ()),
        chunks=first["chunks"],
        best=first["best"],
    )


def dense_search(vector: Vector1536, top_k: int, scope: Scope, ef_search: int) -> Search[list[Hit]]:
    """The ``top_k`` chunks of ``scope`` nearest to ``vector``, nearest first.

    Of chunks that are equally near the lower id comes first, so that a deeper search begins with
    the same chunks: for that it lists some more than it returns, as many as the index has in hand.
    The index lists by half precision. Where what it has not listed might be as near as what is
    returned, LISTED are listed in a second look.
    """
    most = max(top_k, min(LISTED, ef_search))
    listed = min(most, max(top_k, FEWER))
    values = search_values(vector, top_k, listed, scope)

    def widened(rows: list[Row]) -> dict[str, Any] | None:
        if listed == most or len(rows) < top_k:
            return None
        if rows[-1]["border"] - rows[-1]["distance"] >= _MARGIN:
            return None
        return {**values, "listed": most}

    statement = dense_statement(scope.narrowed_by)
    return Search(statement, values, scope, max(ef_search, top_k), _hits, widened)


def _hits(rows: list[Row]) -> list[Hit]:
    return [hit_of(row) for row in rows]
