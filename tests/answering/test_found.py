"""Statements without a marker: the source that bears one out is cited, and said to be found."""

from __future__ import annotations

import json
from typing import Any

import httpx

from helix.answering.answer import long_citations
from helix.answering.numbering import for_readers
from helix.answering.proof import prove
from tests.serving.test_sse import parse_stream
from tests.support.answering_server import client, store, stored, wire
from tests.support.query_service import QUESTION, asked, events_of, post
from tests.support.whole_sources import whole_source
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

__all__ = ["client", "store", "stored", "wire"]
SOURCES = [
    whole_source(1, "Parcels are weighed at the desk."),
    whole_source(2, "Refunds are accepted within 30 days of purchase. Gift cards expire in May."),
    whole_source(3, "Gift cards expire in May. Lamps are made of brass."),
]
TEXT = (
    "Lamps are made of brass [3]. Refunds are accepted within 30 days of purchase. Birds can fly."
)


def test_a_statement_is_looked_for_in_all_sources() -> None:
    marked, found, open_ = prove(TEXT, SOURCES, looks_up=True).statements
    assert (marked.numbers, marked.by_proof, marked.problem) == ((3,), False, None)
    assert (found.numbers, found.by_proof, found.problem) == ((2,), True, None)
    assert [one.quote for one in found.supports] == [
        "Refunds are accepted within 30 days of purchase."
    ]
    assert (open_.numbers, open_.by_proof, open_.problem) == ((), False, "no marker")
    assert [one.to_json().get("by") for one in (marked, found, open_)] == [None, "helix", None]


def test_the_words_of_a_source_that_is_not_cited_are_found_and_prove_nothing() -> None:
    said = "Lamps are made of brass [1]. Refunds are accepted within 60 days of purchase [3]."
    misattributed, wrong = (proof := prove(said, SOURCES)).statements
    assert (misattributed.status, misattributed.numbers) == ("misattributed", (1,))
    assert misattributed.problem is not None and not misattributed.to_json()["supported"]
    assert [(one.n, one.quote) for one in misattributed.supports] == [
        (3, "Lamps are made of brass.")
    ]
    assert wrong.status != "misattributed" and not wrong.supports
    assert (proof.ratio, proof.found) == (0, [3])
    assert [(one["n"], one["by"]) for one in long_citations(said, SOURCES, proof)] == [
        (1, "model"), (3, "model"),
    ]  # fmt: skip


def test_nothing_is_looked_for_unasked() -> None:
    problems = [one.problem for one in prove(TEXT, SOURCES).statements]
    assert problems == [None, "no marker", "no marker"]


def test_the_first_of_several_sources_is_cited() -> None:
    (found,) = prove("Gift cards expire in May.", SOURCES, looks_up=True).statements
    assert found.numbers == (2,)


def test_a_wrong_number_is_not_found() -> None:
    (found,) = prove("Refunds are accepted within 60 days of purchase.", SOURCES, looks_up=True)\
        .statements  # fmt: skip
    assert found.problem == "no marker" and not found.supports


def test_found_sources_come_after_those_of_the_markers_and_are_numbered_on() -> None:
    proof = prove(TEXT, SOURCES, looks_up=True)
    citations = long_citations(TEXT, SOURCES, proof)
    assert [(one["n"], one["by"]) for one in citations] == [(3, "model"), (2, "helix")]
    assert citations[1]["quote"] == "Refunds are accepted within 30 days of purchase."
    response: dict[str, Any] = {
        "answer": TEXT, "abstained": False, "citations": citations, "support": proof.to_json(),
    }  # fmt: skip
    shown = for_readers(response, len(SOURCES))
    assert shown["answer"] == TEXT.replace("[3]", "[1]")
    assert [one["n"] for one in shown["citations"]] == [1, 2]
    statements = shown["support"]["statements"]
    assert [one["numbers"] for one in statements] == [[1], [2], []]
    assert [span["n"] for span in statements[1]["spans"]] == [2]


SAID = "Refunds are accepted within 30 days of purchase, request a refund by letter. Birds can fly."


def _says(wire: GeminiWire, text: str = SAID) -> None:
    wire.script(Answer(deltas=tuple(f"{word} " for word in text.split())), on="generate")


def test_a_query_cites_what_was_found_and_leaves_the_words_as_they_are(
    client: httpx.Client, wire: GeminiWire
) -> None:
    _says(wire)
    answer = asked(client)
    assert answer["answer"].strip() == SAID
    assert [(one["n"], one["by"]) for one in answer["citations"]] == [(1, "helix")]
    found, open_ = answer["support"]["statements"]
    assert (found["by"], found["numbers"], found["supported"]) == ("helix", [1], True)
    assert SAID[found["start"] : found["end"]].endswith("by letter.")
    assert (open_["problem"], "by" in open_) == ("no marker", False)
    assert answer["support"]["ratio"] == 0.5


def test_a_stream_tells_it_in_the_events_of_its_end(client: httpx.Client, wire: GeminiWire) -> None:
    _says(wire)
    *tokens, (_, citations), (_, done) = events_of(post(client, stream=True).content)
    assert "".join(data["t"] for name, data in tokens if name == "token").strip() == SAID
    assert [one["by"] for one in citations] == ["helix"]
    assert done["support"]["statements"][0]["by"] == "helix"


def test_ask_has_the_models_own_markers_alone(client: httpx.Client, wire: GeminiWire) -> None:
    _says(wire)
    text, citations = parse_stream(client.get("/ask", params={"q": QUESTION}).content)
    assert (text.strip(), json.dumps(citations)) == (SAID, "[]")
