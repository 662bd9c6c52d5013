"""Questions and answers as a Word document (DOCX), whose markers lead to numbered sources.

Each marker is a link to its source below the answer, and each source one to the place in the
document: the page of this Helix that shows the quote, or the address on the web it came from.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote as url_quote

from helix.conversations.word_text import WordText

WORD_MEDIA = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_LONGEST_QUOTE = 300  # characters


@dataclass(frozen=True, slots=True)
class _Source:
    """A passage that an answer rests on: its number, what it is called, where it is, its words."""

    number: int
    name: str
    address: str
    quote: str


def word_of(title: str, turns: Sequence[Mapping[str, Any]], page: str) -> bytes:
    """A DOCX file of messages, or of answers as /v1/query gives them with their ``question``.

    ``page`` is the address of this Helix's page, which ends with "/"; '' makes no links to it.
    Runs as long as python-docx needs, some 0.2 ms a paragraph: not on the event loop.
    """
    text = WordText(title)
    for number, turn in enumerate(turns, 1):
        answer = turn.get("response", turn) or {}
        sources = list(_sources(answer, page))
        anchors = {one.number: f"source-{number}-{one.number}" for one in sources}
        text.heading(turn["question"])
        if (ended := turn.get("status", "done")) != "done":
            text.run(text.paragraph(), f"({ended})")
        text.markdown(answer.get("answer") or "", anchors)
        _add_sources(text, sources, anchors)
    out = io.BytesIO()
    text.document.save(out)
    return out.getvalue()


def _add_sources(text: WordText, sources: Sequence[_Source], anchors: Mapping[int, str]) -> None:
    named: set[int] = set()
    for one in sources:
        paragraph = text.paragraph()
        if one.number not in named:
            text.bookmark(paragraph, anchors[one.number])
            named.add(one.number)
        text.run(paragraph, f"[{one.number}] ")
        if one.address:
            text.link(paragraph, one.name, address=one.address)
        else:
            text.run(paragraph, one.name)
        if one.quote:
            text.run(paragraph, f": “{one.quote}”")


def _sources(answer: Mapping[str, Any], page: str) -> Iterable[_Source]:
    for citation in answer.get("citations") or ():
        place = citation.get("label")
        name = f"{citation.get('title') or 'a deleted document'}{f', {place}' if place else ''}"
        for span in _spans(answer, citation):
            quote = " ".join((span.get("quote") or "").split())[:_LONGEST_QUOTE]
            yield _Source(citation["n"], name, _address(citation, span, page), quote)


def _spans(answer: Mapping[str, Any], citation: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The spans of a source that statements rest on, each once; else what the citation quotes."""
    statements = (answer.get("support") or {}).get("statements") or ()
    spans = [
        span for statement in statements for span in statement.get("spans") or ()
        if span["n"] == citation["n"] and span.get("quote")
    ]  # fmt: skip
    return {span["quote"]: span for span in spans}.values() or [citation]


def _address(citation: Mapping[str, Any], span: Mapping[str, Any], page: str) -> str:
    if citation.get("source_url"):
        return str(citation["source_url"])
    if not page or citation.get("document_id") is None:
        return ""
    at = span.get("start") is not None and span.get("end") is not None
    query = f"?start={int(span['start'])}&end={int(span['end'])}" if at else ""
    return f"{page}#/source/{url_quote(str(citation['document_id']))}{query}"
