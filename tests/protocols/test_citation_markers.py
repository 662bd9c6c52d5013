"""Marks of an answer: places and spans, in code points and UTF-16 units, with links or not."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from helix.protocols.citation_markers import Utf16, citation_markers, linked, source_link

WORDS = ["süß", "e\u0301te\u0301", "🦆👩‍🚀", "שלום", "مرحبا", "plain", "𝕏"]
PIECES = st.lists(st.sampled_from([*WORDS, "[1]", "[2]", "[1, 2]", "[9]", ". "]), max_size=20)


def answer_json(answer: str, *supported: tuple[int, int, int], sources: int = 2) -> dict[str, Any]:
    """The JSON of an answer; each ``supported`` is a statement's start and end, and its source."""
    citations = [
        {"n": n, "document_id": n + 6, "chunk_id": n + 40, "title": f"Title {n}",
         "heading_path": [], "label": f"page {n}"}
        for n in range(1, sources + 1)
    ]  # fmt: skip
    statements = [
        {"start": start, "end": end, "supported": True, "spans": [
            {"n": n, "document_id": n + 6, "chunk_id": n + 40, "quote": answer[start:end],
             "start": 100 + start, "end": 100 + end}]}
        for start, end, n in supported
    ]  # fmt: skip
    return {"answer": answer, "citations": citations, "support": {"statements": statements}}


def test_a_mark_leads_to_what_bears_out_its_own_statement() -> None:
    answer = "First. [1] Second. [1] [9]"
    first, second = citation_markers(answer_json(answer, (0, 10, 1)))
    assert (first.n, answer[first.start : first.end], first.title) == (1, "[1]", "Title 1, page 1")
    assert (first.quote, first.quote_start, first.quote_end) == ("First. [1]", 100, 110)
    assert source_link("http://h", first) == "http://h/#/source/7?start=100&end=110"
    assert second.quote is None and source_link("http://h", second) == "http://h/#/source/7"


def test_of_an_answer_that_is_told_in_part_the_marks_are_those_in_that_part() -> None:
    assert [
        marker.n for marker in citation_markers(answer_json("One. [1] Two. [2]"), "One. [1] T")
    ] == [1]


def test_a_source_that_helix_found_stands_at_the_end_of_its_statement() -> None:
    answer = "Found. Cited. [1] Nothing."
    json = answer_json(answer, (0, 6, 2), (7, 17, 1))
    json["support"]["statements"][0] |= {"by": "helix", "numbers": [2]}
    markers = citation_markers(json)
    found = markers[0]
    assert (found.n, found.start, found.end, found.quote) == (2, 6, 6, "Found.")
    assert [marker.by for marker in markers] == ["helix", "model"]
    assert [marker.n for marker in citation_markers(json, "Foun")] == []
    turned = answer_json("Cited. [1] Found.", (11, 17, 2))
    turned["support"]["statements"][0] |= {"by": "helix", "numbers": [2]}
    text, moved = linked(turned["answer"], lambda n, _: f"u:{n}", citation_markers(turned))
    assert text == "Cited. [1](u:1) Found."
    assert [text[: marker.end] for marker in moved] == ["Cited. [1](u:1)", text]


@given(PIECES)
def test_units_are_javascripts_places_of_the_same_characters(pieces: list[str]) -> None:
    answer = "".join(pieces)
    units, wide = Utf16(answer).units, answer.encode("utf-16-le")
    for marker in citation_markers(answer_json(answer)):
        sliced = wide[2 * units(marker.start) : 2 * units(marker.end)]
        assert sliced.decode("utf-16-le") == answer[marker.start : marker.end]
    assert 2 * units(len(answer)) == len(wide)


@given(PIECES)
def test_links_move_the_marks_and_change_nothing_else(pieces: list[str]) -> None:
    answer = "".join(pieces)
    markers = citation_markers(answer_json(answer))
    text, moved = linked(answer, lambda n, _: f"u:{n}" if n <= 2 else None, markers)
    assert [(marker.n, marker.quote) for marker in moved] == [
        (marker.n, marker.quote) for marker in markers
    ]
    assert all(text[m.start : m.end] == f"[{m.n}](u:{m.n})" for m in moved)
    plain = text.replace("(u:1)", "").replace("(u:2)", "")
    assert plain == answer.replace("[1, 2]", "[1] [2]")
