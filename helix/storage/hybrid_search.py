"""Hybrid search: nearest vectors and BM25, fused, in one statement and so one round trip."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from helix.domain.gate import is_identifier
from helix.domain.records import Candidate, SearchResult
from helix.domain.scope import Scope
from helix.domain.search_space import Fusion
from helix.language.terms import forms_elsewhere, question_words
from helix.storage.connections import Row
from helix.storage.packed_terms import key_of, language_key, slot_of
from helix.storage.search_scope import Search, Vector1536, hit_of, search_values
from helix.storage.statements.hybrid_search import hybrid_statement

_MOST_TERMS = 64
_MOST_FORMS = 512
"""Forms of other languages that are asked for: a word has four to six of them in all."""


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
