"""The chunks and documents that a case expects."""

from __future__ import annotations

from evals.cases import Span
from evals.metrics.retrieval import expected_ids, named
from helix.domain.records import Hit
from helix.retrieval.gated_retriever import as_node


def test_expected_are_the_chunks_that_share_a_character_with_a_passage() -> None:
    chunks = [(1, "a", 0, 10), (2, "a", 8, 20), (3, "a", 20, 30), (4, "b", 0, 50)]
    spans = [Span(source="a", start=9, end=20)]
    assert expected_ids(spans, chunks, by_document=False) == ["1", "2"]
    assert expected_ids([Span(source="b")], chunks, by_document=False) == ["4"]
    assert expected_ids(spans, chunks, by_document=True) == ["a"]


def test_a_document_stands_where_its_best_chunk_does() -> None:
    hits = [Hit(n, n, "T", uri, 0, f"{n}", 0, 1, f"n{n}", n / 10) for n, uri in enumerate("abac")]
    found = named([as_node(hit) for hit in hits], "source_uri")
    assert [(node.node_id, node.text) for node in found] == [("a", "0"), ("b", "1"), ("c", "3")]
