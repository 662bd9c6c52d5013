"""Answers as Word documents: opened with python-docx, their markers and sources followed."""

from __future__ import annotations

import io
from typing import Any

import httpx
import pytest
from docx import Document
from docx.oxml.ns import qn

from helix.conversations.word import word_of
from helix.conversations.word_text import _clean
from tests.conversations.test_routes import ANSWER, ask, begun, path_of
from tests.support.query_service import QUESTION

PAGE = "https://helix.example.com/"
CITATION = {
    "n": 1, "title": "Refund Policy", "label": "page 2", "document_id": 7, "source_url": None,
    "quote": "Refunds are accepted within 30 days.", "start": 10, "end": 46,
}  # fmt: skip
TURN = {
    "question": "How long?",
    "answer": "Within **30 days** [1].\n\n- by letter [1]\n- at the desk [9]",
    "citations": [CITATION], "support": {"statements": []},
}  # fmt: skip


def opened(data: bytes) -> Any:
    return Document(io.BytesIO(data))


def links_of(document: Any) -> list[tuple[str, str]]:
    """(text, where it leads) of each link; "#name" within the document."""
    found = []
    for link in document.element.body.iter(qn("w:hyperlink")):
        text = "".join(part.text or "" for part in link.iter(qn("w:t")))
        anchor, place = link.get(qn("w:anchor")), link.get(qn("r:id"))
        found.append((text, f"#{anchor}" if anchor else document.part.rels[place].target_ref))
    return found


def bookmarks_of(document: Any) -> list[str]:
    return [mark.get(qn("w:name")) for mark in document.element.body.iter(qn("w:bookmarkStart"))]


def test_markers_lead_to_sources_and_sources_to_the_page() -> None:
    document = opened(word_of("Refunds", [TURN], PAGE))
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts == [
        "Refunds", "How long?", "Within 30 days [1].", "by letter [1]", "at the desk [9]",
        "[1] Refund Policy, page 2: “Refunds are accepted within 30 days.”",
    ]  # fmt: skip
    styles = [paragraph.style.name for paragraph in document.paragraphs]
    assert styles[:2] == ["Title", "Heading 1"] and styles[3:5] == ["List Bullet"] * 2
    source = ("Refund Policy, page 2", f"{PAGE}#/source/7?start=10&end=46")
    assert links_of(document) == [("1", "#source-1-1"), ("1", "#source-1-1"), source]
    assert bookmarks_of(document) == ["source-1-1"], "a number without a source is no link"
    assert document.core_properties.title == "Refunds"


def test_an_answer_that_did_not_end_says_so() -> None:
    document = opened(word_of("Refunds", [{**TURN, "status": "stopped"}], PAGE))
    assert [paragraph.text for paragraph in document.paragraphs][1:3] == ["How long?", "(stopped)"]


def test_a_document_has_nothing_that_its_text_does_not_need() -> None:
    body = opened(word_of("Refunds", [TURN], PAGE)).element.body
    assert all(run.text for run in body.iter(qn("w:r")))
    bold = [run.text for run in body.iter(qn("w:r")) if run.find(qn("w:rPr")) is not None]
    assert bold == ["30 days", "1", "1", "Refund Policy, page 2"], "and three links"


def test_the_address_of_a_web_page_is_its_own_and_without_a_page_there_is_none() -> None:
    on_the_web = CITATION | {"source_url": "https://policies.example.com/refunds"}
    [*_, (_, leads)] = links_of(opened(word_of("", [TURN | {"citations": [on_the_web]}], PAGE)))
    assert leads == "https://policies.example.com/refunds"
    assert all(to.startswith("#") for _, to in links_of(opened(word_of("", [TURN], ""))))


def test_each_quote_that_a_statement_rests_on_is_a_source() -> None:
    spans = [
        {"n": 1, "quote": quote, "start": 1, "end": 5} for quote in ("First.", "Second.", "First.")
    ]
    turn = TURN | {"support": {"statements": [{"spans": spans}]}}
    document = opened(word_of("", [turn, turn], PAGE))
    sources = [p.text for p in document.paragraphs if p.text.startswith("[1] Refund")]
    assert [text.rpartition(": ")[2] for text in sources] == ["“First.”", "“Second.”"] * 2
    assert bookmarks_of(document) == ["source-1-1", "source-2-1"], "each answer has its own"


@pytest.mark.parametrize(
    "answer",
    ["", "\x00\x1b[31m\ud800 and \ufffe", "| a | b |\n|---|---|\n| 1 | [1] |", "```\nx = [1]\n```",
     "[x](javascript:alert(1)) <script>", "# [1]\n## two\n1. a\n   - b\n     - c\n       - d\n",
     "> " * 500 + "deep", "[" * 5000, "* " * 3000, "a [1]\n\n" * 800],
)  # fmt: skip
def test_any_answer_makes_a_document_that_opens(answer: str) -> None:
    document = opened(word_of("\x07", [TURN | {"answer": answer, "question": answer[:90]}], PAGE))
    body = "".join(node.text or "" for node in document.element.body.iter(qn("w:t")))
    for word in ("and", "x = [1]", "javascript", "deep"):
        assert (word in _clean(answer)) == (word in body)
    assert not [to for _, to in links_of(document) if not to.startswith(("#", PAGE))]


def test_short_rows_of_a_wide_table_are_not_filled_up() -> None:
    table = "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "|b|\n" * 120  # 60,500 cells in 2.5 kB
    document = opened(word_of("", [TURN | {"answer": f"|w|\n|-|\n|v|\n\n{table}"}], PAGE))
    assert not document.tables and "|w|" in [one.text for one in document.paragraphs]
    small = opened(word_of("", [TURN | {"answer": "|w|\n|-|\n|v|\n\n" * 50}], PAGE))
    assert len(small.tables) == 50


def test_a_conversation_and_one_of_its_answers_are_exported(client: httpx.Client) -> None:
    conversation = begun(client)
    assert all(ask(client, conversation).status_code == 200 for _ in range(2))
    address = f"/v1/conversations/{conversation}/export"
    whole = client.get(address, params={"format": "docx"})
    assert whole.status_code == 200, whole.text
    assert whole.headers["content-disposition"] == "attachment; filename=conversation.docx"
    assert whole.headers["content-type"].endswith("wordprocessingml.document")
    document = opened(whole.content)
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts.count(QUESTION) >= 2 and texts.count(ANSWER) == 2
    assert any(to.startswith(f"{client.base_url}/#/source/") for _, to in links_of(document))
    one = {"format": "docx", "message": path_of(client, conversation)[0]["id"]}
    texts = [p.text for p in opened(client.get(address, params=one).content).paragraphs]
    assert texts.count(ANSWER) == 1
    assert client.get(address, params=one | {"message": 10**9}).status_code == 404
    assert client.get(address, params=one | {"format": "json"}).status_code == 400


FORGED = [
    {"citations": [CITATION | {"source_url": "javascript:alert(1)"}]},
    {"citations": [CITATION | {"source_url": "file:///etc/passwd"}]},
    {"citations": [CITATION | {"n": "1"}]},
    {"citations": [CITATION | {"quote": ["x"]}]},
    {"citations": [{"title": "without a number"}]},
    {"citations": ["x"]},
    {"citations": [], "support": {"statements": [{"spans": [{"n": 1, "quote": 5}]}]}},
    {"citations": [], "support": {"statements": "x"}},
    {"citations": [], "support": []},
]


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_citation_is_not_imported(client: httpx.Client, forged: dict[str, Any]) -> None:
    message = {"id": 1, "question": "q", "status": "done", "response": {"answer": "a"} | forged}
    exported = {"format": "helix-conversation-1", "title": "", "messages": [message]}
    refused = client.post("/v1/conversations/import", json=exported)
    assert refused.status_code == 400, refused.text
    assert "message 1" in refused.json()["error"]
