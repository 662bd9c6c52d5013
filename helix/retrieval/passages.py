"""A plain search, for people who look for a passage: what fits, where, and what was hit in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from helix.domain.records import Hit
from helix.domain.retrieval import MOST_PASSAGES
from helix.domain.scope import Scope
from helix.language.sentences import sentence_spans
from helix.language.terms import language_of, terms
from helix.language.words import OF_UNSPACED
from helix.retrieval.gated_retriever import GatedRetriever

SNIPPET_CHARS = 260
_BEFORE = 60  # characters of a long sentence in front of its first hit
_LEAST_PREFIX = 3  # letters of a word that is still being typed
_LETTER = rf"(?:[^\W_{OF_UNSPACED}]|[\u0300-\u036f])"
_TOKEN = re.compile(
    rf"[{OF_UNSPACED}](?=([{OF_UNSPACED}]?))"  # and the character that it is a pair with
    r"|\d++(?>(?:[.,]\d++)+)"
    rf"|{_LETTER}++(?>(?:[-'’._/]{_LETTER}++)*)"
)
_SPACE = re.compile(r"\s")
_HEADING_MARK = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)

_Span = tuple[int, int]
Json = dict[str, Any]


async def found_passages(
    retriever: GatedRetriever, query: str, scope: Scope, top_k: int = 10
) -> Json:
    """The passages of ``scope`` that fit ``query``, best first, by the search that answers use.

    No model is asked: neither a rewriter nor a reranker, for it searches while somebody types.
    ``near_enough`` is whether an answer would be given from them.

    Raises:
        UpstreamError, StoreUnavailable, EmbedderMismatch: as ``GatedRetriever.search``.
    """
    found = await retriever.search(query, scope, min(top_k, MOST_PASSAGES), plain=True)
    scores = {each.hit.chunk_id: each.fused for each in found.trace.candidates}
    last = ["", *(token[0] for token in _TOKEN.finditer(query.casefold()))][-1]
    return {
        "near_enough": bool(found.hits) and found.reason is None,
        "results": [_row(hit, scores[hit.chunk_id], query, last) for hit in found.hits],
    }


def _row(hit: Hit, score: float, query: str, last: str) -> Json:
    text = hit.content
    hits = marks(text, query, last)
    first, end = _best_sentence(text, hits)
    snippet, shown = _snippet(text, first, hits)
    whole = hit.start_char is None
    return {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document_id,
        "title": hit.title,
        "source_uri": hit.source_uri,
        "heading_path": list(hit.heading_path),
        "page": hit.page,
        "label": hit.label,
        "snippet": snippet,
        "marks": [list(span) for span in shown],
        "start": None if whole else (hit.start_char or 0) + first,
        "end": None if whole else (hit.start_char or 0) + end,
        "score": round(score, 6),
    }


def marks(text: str, query: str, last: str = "") -> list[_Span]:
    """The words of ``text`` that have a term of ``query`` in the language of the text.

    Those that begin as the ``last`` word typed are among them.
    """
    language = language_of(text)
    wanted = frozenset(terms(query, language))
    found: list[_Span] = []
    for token in _TOKEN.finditer(text):
        word = token[0] + (token[1] or "")
        typed = len(last) >= _LEAST_PREFIX and word.casefold().startswith(last)
        if typed or not wanted.isdisjoint(terms(word, language)):
            start, end = token.start(), token.start() + len(word)
            if found and start < found[-1][1]:  # pairs of characters overlap
                start = found.pop()[0]
            found.append((start, end))
    return found


def _best_sentence(text: str, hits: Iterable[_Span]) -> _Span:
    """The sentence with the most different words that were hit, the first of several."""
    spans = sentence_spans(text) or [(0, len(text))]
    counts = [
        len({text[start:end].casefold() for start, end in hits if first <= start < last})
        for first, last in spans
    ]
    return spans[counts.index(max(counts))]


def _snippet(text: str, first: int, hits: Iterable[_Span]) -> tuple[str, list[_Span]]:
    """A piece of ``text`` from ``first`` or before the first hit behind it, and the hits in it.

    White space and the marks of Markdown's headings are spaces in it, as many characters.
    """
    if mark := _HEADING_MARK.match(text, first):
        first = mark.end()
    hit = next((start for start, _ in hits if start >= first), first)
    if hit - first > SNIPPET_CHARS // 2:
        first = _word_start(text, hit - _BEFORE)
    end = len(text)
    if end - first > SNIPPET_CHARS:
        end = _word_start(text, first + SNIPPET_CHARS)
    before = "…" if text[:first].strip("# \t\n") else ""
    after = "…" if end < len(text) else ""
    shown = _HEADING_MARK.sub(lambda mark: " " * len(mark[0]), text[first:end])
    snippet = before + _SPACE.sub(" ", shown).rstrip() + after
    moved = len(before) - first
    return snippet, [(s + moved, e + moved) for s, e in hits if first <= s and e <= end]


def _word_start(text: str, place: int) -> int:
    """The start of the word at ``place``; the place itself within a very long one."""
    for start in range(place, max(place - 40, 0), -1):
        if text[start - 1].isspace():
            return start
    return place
