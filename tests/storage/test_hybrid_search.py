"""Hybrid search against BM25 and fusion worked out anew, and the counts it rests on."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter

import psycopg
import pytest

from helix.domain.records import SearchResult
from helix.domain.retrieval import LISTED, Fusion
from helix.domain.scope import Scope
from helix.language.terms import language_of, question_words, terms
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space
from helix.storage.packed_terms import K1, B
from helix.store import ChunkStore
from tests.support.fake_embedder import (
    IDENTITY,
    documents,
    opened,
    record,
    rows,
    word_embedder,
    write,
)
from tests.support.texts import paragraphs
from tests.support.wire.gemini import word_vector

COUNTED = """
SELECT key, sum(n)::int FROM term_statistics GROUP BY key HAVING sum(n) <> 0 ORDER BY key
"""
RECOUNTED = """
SELECT key, n::int FROM (
    SELECT k AS key, count(*) AS n FROM chunk_terms, unnest(keys) AS k GROUP BY k
    UNION ALL SELECT 0, count(*) FROM chunk_terms
    UNION ALL SELECT 1, sum(length) FROM chunk_terms
) c WHERE n <> 0 ORDER BY key
"""
QUESTIONS = (
    "the water of the mountain river in winter",
    "teacher and student at school",
    "bread butter sugar coffee kitchen",
    "policy report of the government",
    "time",
)


def _texts(count: int, seed: int = 3) -> dict[str, str]:
    return {f"{n}.txt": text for n, text in enumerate(paragraphs(count, seed))}


def _fill(store: ChunkStore, texts: dict[str, str]) -> None:
    for uri, text in texts.items():
        write(store, record(uri, text))


def _bm25(texts: dict[str, str], question: str) -> dict[str, float]:
    """Scores above 0, by the formula of Robertson with Lucene's idf."""
    found = {uri: Counter(terms(text, language_of(text))) for uri, text in texts.items()}
    lengths = {uri: sum(counts.values()) for uri, counts in found.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: Counter[str] = Counter()
    for term in question_words(question):
        having = [uri for uri, counts in found.items() if counts[term]]
        idf = math.log(1 + (len(found) - len(having) + 0.5) / (len(having) + 0.5))
        for uri in having:
            tf = found[uri][term]
            scores[uri] += idf * tf / (tf + K1 * (1 - B + B * lengths[uri] / mean))  # type: ignore[assignment]
    return dict(scores)


async def _ask(store: ChunkStore, question: str, fusion: Fusion, top_k: int = 10) -> SearchResult:
    return await store.search_hybrid(question, word_vector(question), top_k, fusion=fusion)


async def test_scores_are_those_of_bm25(database_url: str) -> None:
    texts = _texts(120)
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, texts)
        for question in QUESTIONS:
            expected = _bm25(texts, question)
            found = await _ask(store, question, Fusion(0.0), 200)
            scores = {h.source_uri: s for h, s in zip(found.hits, found.scores, strict=True)}
            best = sorted(expected, key=lambda uri: -expected[uri])[:LISTED]
            assert set(best) <= set(scores)
            assert {u: scores[u] for u in best} == pytest.approx({u: expected[u] for u in best})
            assert found.scores == sorted(found.scores, reverse=True)


async def test_terms_beside_the_question_count_by_their_weight(database_url: str) -> None:
    texts, question, beside = _texts(60), QUESTIONS[0], {"school": 0.25, "zebra": 0.5}
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, texts)
        vector = word_vector(question)
        plain = await _ask(store, question, Fusion(0.0), 200)
        found = await store.search_hybrid(question, vector, 200, None, Fusion(0.0), beside)
    further = _bm25(texts, "school")
    expected = _bm25(texts, question)
    for uri, score in further.items():
        expected[uri] = expected.get(uri, 0.0) + 0.25 * score
    scores = {h.source_uri: s for h, s in zip(found.hits, found.scores, strict=True)}
    best = sorted(expected, key=lambda uri: -expected[uri])[:LISTED]
    assert further and {u: scores[u] for u in best} == pytest.approx({u: expected[u] for u in best})
    assert (found.words, found.frequencies) == (plain.words, plain.frequencies)


@pytest.mark.parametrize(
    "fusion",
    [Fusion(), Fusion(0.0), Fusion(0.3), Fusion(1.0), Fusion(None, rrf_k=3, near=6, by_words=14)],
)
async def test_the_order_is_that_of_the_fusion(database_url: str, fusion: Fusion) -> None:
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, _texts(80))
        for question in QUESTIONS:
            every = await _ask(store, question, fusion, 200)
            values = _fused(every, fusion)
            assert values == pytest.approx(sorted(values, reverse=True))
            first = await _ask(store, question, fusion)
            assert first.hits == every.hits[:10]
            assert first.nearest == every.nearest == min(hit.distance for hit in every.hits)


async def test_each_half_brings_as_many_as_it_is_to(database_url: str) -> None:
    """Of 80 texts, those among the nearest or the best by words, and no others."""
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, _texts(80))
        for question in QUESTIONS:
            usual = await _ask(store, question, Fusion(0.5), 200)
            for near, by_words in ((3, 3), (3, 40), (40, 3), (120, 120)):
                fusion = Fusion(0.5, near=near, by_words=by_words)
                found = await _ask(store, question, fusion, 200)
                assert max(near, by_words) <= len(found.hits) <= near + by_words or near == 120
                assert found.nearest == usual.nearest and found.best == usual.best
            assert len(found.hits) == 80


def _fused(found: SearchResult, fusion: Fusion) -> list[float]:
    distances, scores = [hit.distance for hit in found.hits], found.scores
    places = range(len(distances))
    if fusion.dense_weight is None:
        ids = [hit.chunk_id for hit in found.hits]
        near = sorted(places, key=lambda p: (distances[p], ids[p]))
        scored = sorted((p for p in places if scores[p]), key=lambda p: (-scores[p], ids[p]))
        values = dict.fromkeys(places, 0.0)
        for ranking in (near[: fusion.near], scored[: fusion.by_words]):
            for rank, place in enumerate(ranking, 1):
                values[place] += 1 / (fusion.rrf_k + rank)
        return list(values.values())
    best, weight = max(scores) or 1.0, fusion.dense_weight
    return [
        weight * (1 - distance) + (1 - weight) * score / best
        for distance, score in zip(distances, scores, strict=True)
    ]


async def test_an_identifier_is_found_where_its_vector_is_lost(database_url: str) -> None:
    texts = _texts(60) | {
        "law.txt": "Nach §3 Absatz 2 gilt die Frist.",
        "error.txt": "The pump stops with error 404B.",
        "code.txt": "Call foo_bar() once.",
        "part.txt": "See A.1.2 for the rest.",
    }
    asked = {"law.txt": "§ 3", "error.txt": "404b", "code.txt": "foo_bar", "part.txt": "A.1.2"}
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, texts)
        for uri, question in asked.items():
            elsewhere = word_vector("winter mountain")
            found = await store.search_hybrid(question, elsewhere, 3)
            assert found.hits[0].source_uri == uri


async def test_one_document_alone(database_url: str) -> None:
    texts = _texts(20)
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, texts)
        wanted, _ = documents(database_url)["7.txt"]
        for question in (*QUESTIONS, "nothing_of_it"):
            found = await store.search_hybrid(
                question, word_vector(question), 10, Scope(document_ids=(wanted,))
            )
            assert [hit.document_id for hit in found.hits] == [wanted]


async def test_nothing_stored_and_nothing_asked(database_url: str) -> None:
    async with opened(database_url) as store:
        empty = await store.search_hybrid("water", word_vector("water"), 5)
        assert (empty.hits, empty.nearest) == ([], None)
        await asyncio.to_thread(_fill, store, _texts(3))
        for question in ("", "the of and", "?!", "\x00\ud800", "water " * 5000):
            found = await store.search_hybrid(question, [0.0] * 1536, 5)
            assert len(found.hits) == 3


async def test_the_gate_goes_by_the_nearest_of_all(database_url: str) -> None:
    texts = _texts(40) | {"far.txt": "zebra zebra zebra"}
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, texts)
        embedder = word_embedder()
        for fusion in (None, Fusion(), Fusion(0.0)):
            retriever = GatedRetriever(store, Space(embedder, 0.9, fusion), top_k=1)
            for question in QUESTIONS:
                exact = await store.search(word_vector(question), 1)
                found = await retriever.search(question)
                assert found.decision.best == pytest.approx(exact[0].distance)
                blocking = await asyncio.to_thread(
                    store.connections.run_blocking, retriever.search, question
                )
                assert (blocking.hits, blocking.decision) == (found.hits, found.decision)


def _counts_hold(url: str) -> None:
    assert rows(url, COUNTED) == rows(url, RECOUNTED)
    assert rows(url, "SELECT count(*) FROM chunks") == rows(url, "SELECT count(*) FROM chunk_terms")


def test_counts_hold_whatever_writers_do_at_once(database_url: str) -> None:
    async def writer(seed: int) -> None:
        source = random.Random(seed)
        async with opened(database_url) as store:
            for step in range(25):
                uri = f"{source.randrange(8)}.txt"
                if source.random() < 0.2:
                    await asyncio.to_thread(store.delete, uri)
                else:
                    text = "\n\n".join(paragraphs(source.randint(1, 3), 100 * seed + step))
                    await asyncio.to_thread(write, store, record(uri, text))

    async def all_of_them() -> None:
        await asyncio.gather(*(writer(seed) for seed in range(4)))

    asyncio.run(all_of_them())
    _counts_hold(database_url)
    # folded now and then: a search reads few changes of each key
    made = rows(database_url, "SELECT last_value FROM term_changes_made")[0][0]
    most = rows(
        database_url, "SELECT count(*) FROM term_changes GROUP BY key ORDER BY 1 DESC LIMIT 1"
    )
    assert made > 64 and (not most or most[0][0] < made)


async def test_counts_hold_after_a_rollback_and_a_truncation(database_url: str) -> None:
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, _texts(5))
        with psycopg.connect(database_url) as connection:
            connection.execute("DELETE FROM documents")
            connection.rollback()
        _counts_hold(database_url)
        await asyncio.to_thread(store.clear)
        _counts_hold(database_url)
        await asyncio.to_thread(_fill, store, _texts(5))
        with psycopg.connect(database_url) as connection:
            connection.execute("TRUNCATE chunks CASCADE")
        assert rows(database_url, COUNTED) == []


async def test_terms_that_other_code_left_out_are_filled_in(database_url: str) -> None:
    texts = _texts(6)
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, texts)
        with psycopg.connect(database_url) as connection:
            connection.execute("DELETE FROM chunk_terms WHERE chunk_id % 2 = 0")
            connection.execute(
                "UPDATE chunks SET content = 'zebra', metadata_ = metadata_ - 'start_char'"
                " - 'end_char' WHERE id = (SELECT min(id) FROM chunks)"
            )
        assert await store.fill_terms() == 4  # three with an even id, and the changed first
        assert await store.fill_terms() == 0
        _counts_hold(database_url)
        found = await _ask(store, "zebra", Fusion(0.0), 1)
        assert found.hits[0].content == "zebra" and found.scores[0] > 0


GERMAN = {
    "miete.txt": "Die Kündigungsfrist beträgt drei Monate, und sie beginnt mit dem nächsten Monat.",
    "rad.txt": "Das Rad wird am Abend zurückgegeben, und der Schlüssel wird in den Kasten gelegt.",
}


async def test_a_word_is_found_in_another_form_of_its_language(database_url: str) -> None:
    question = "Welche Kündigungsfristen gibt es?"
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, _texts(6))
        alone = await _ask(store, question, Fusion(0.0), 20)
        assert not any(alone.frequencies)
        await asyncio.to_thread(_fill, store, GERMAN)
        found = await _ask(store, question, Fusion(0.0), 20)
        assert found.hits[0].source_uri == "miete.txt" and found.scores[0] > found.scores[1] == 0
        assert found.frequencies == (0, 1, 0, 0) and found.candidates[0].together == 1
        _counts_hold(database_url)


async def test_forms_of_a_language_that_nobody_has_meet_nothing(database_url: str) -> None:
    """`Tagen` is `tag` in German, which is a word of an English text."""
    text = "Each bag has a tag, and the tag is read at the door before the bag is let through."
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, {"a.txt": text})
        assert (await _ask(store, "Tagen", Fusion(0.0))).frequencies == (0,)
        await asyncio.to_thread(_fill, store, GERMAN)
        assert (await _ask(store, "Tagen", Fusion(0.0))).frequencies == (1,)


async def test_what_was_stored_without_its_language_is_told_it(database_url: str) -> None:
    """Documents of an older release, marked by the upgrade, are found by their stems."""
    languages = "SELECT source_uri, language FROM documents ORDER BY source_uri"
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store, {**GERMAN, "a.txt": _texts(1)["0.txt"]})
        with psycopg.connect(database_url) as connection:
            connection.execute("UPDATE documents SET language = '' WHERE language = 'german'")
            connection.execute("DELETE FROM chunk_terms")
        await store.fill_terms()
        _counts_hold(database_url)
        told = [("a.txt", "english"), ("miete.txt", "german"), ("rad.txt", "german")]
        assert rows(database_url, languages) == told
        found = await _ask(store, "Kündigungsfristen", Fusion(0.0), 1)
        assert found.hits[0].source_uri == "miete.txt" and found.scores[0] > 0


async def test_a_new_title_and_a_new_language_are_new_terms(database_url: str) -> None:
    text = paragraphs(1)[0]
    async with opened(database_url, IDENTITY) as store:
        await asyncio.to_thread(write, store, record("a.txt", text))
        assert rows(database_url, "SELECT language FROM documents") == [("english",)]
        foreign = " ".join(f"wasser{n} ist nass und kalt im winter" for n in range(30))
        await asyncio.to_thread(write, store, record("a.txt", f"{text}\n\n{foreign * 4}"))
        assert rows(database_url, "SELECT language FROM documents") == [("german",)]
        _counts_hold(database_url)
        plain = Counter(terms(text, "german"))
        length = rows(database_url, "SELECT length FROM chunk_terms ORDER BY chunk_id LIMIT 1")
        assert length == [(sum(plain.values()),)]
