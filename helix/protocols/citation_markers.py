"""The markers of an answer, each with the exact span of the document that it cites. Pure.

Every protocol makes its citations from these, so that all of them cite the same characters.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from helix.answering.answer import CitedBy
from helix.domain.citations import MARKER, place_of

Json = dict[str, Any]
Link = Callable[[int, int], str | None]
"""(number, offset of its marker in the answer) to the address of its link; None: no link."""


@dataclass(frozen=True, slots=True)
class CitationMarker:
    """One number of one marker; or, ``by`` Helix, a source found for a statement without one.

    ``text[start:end]``, in code points, is its place in the text that the client gets: of one that
    was found nothing, at the end of its statement. ``quote`` is
    ``documents.text[quote_start:quote_end]``, which states what the marker's sentence states; the
    three are None where no span does. ``answer_id`` is set where the document has no page of its
    own, for it is a text that was pasted into the question: its link leads to the answer.
    """

    n: int
    start: int
    end: int
    document_id: int
    chunk_id: int
    title: str
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    by: CitedBy = "model"
    source_url: str | None = None
    answer_id: str | None = None

    @property
    def address(self) -> Json:
        """``source_url`` by its name, where there is one: of what a page of the web says."""
        return {"source_url": self.source_url} if self.source_url else {}


def source_link(base: str, marker: CitationMarker) -> str:
    """The address at which the page shows the span of ``marker``; ``base`` is the server's."""
    if marker.answer_id:
        return answer_link(base, marker.answer_id)
    place = f"{base}/#/source/{marker.document_id}"
    if marker.quote_start is None:
        return place
    return f"{place}?start={marker.quote_start}&end={marker.quote_end}"


def answer_link(base: str, answer_id: str) -> str:
    """The address of the page's view of a receipt: the answer with all its sources."""
    return f"{base}/#/answer/{answer_id}"


def citation_markers(
    answer: Mapping[str, Any], text: str | None = None
) -> tuple[CitationMarker, ...]:
    """The citation markers of an answer's JSON (``answer``, ``citations``, ``support``), in order.

    ``text``: the beginning of the answer, where the client has only that. A marker in a statement
    without a span cites its document alone. A marker that cites no source is left out, and so is
    one of a tool's result, which has no document to lead to.
    """
    cited = (one for one in answer["citations"] if one["document_id"] is not None)
    citations = {citation["n"]: citation for citation in cited}
    statements = answer["support"]["statements"]
    text = answer["answer"] if text is None else text
    markers = list(_found(statements, citations, len(text)))
    for match in MARKER.finditer(text):
        for n in _numbers(match[1]):
            if citation := citations.get(n):
                span = _span(statements, n, match.start())
                markers.append(_marker(citation, match.start(), match.end(), span))
    pasted, answer_id = answer.get("pasted"), answer.get("answer_id")
    return tuple(
        replace(marker, answer_id=answer_id) if marker.document_id == pasted else marker
        for marker in sorted(markers, key=lambda marker: marker.start)
    )


def _found(
    statements: list[Json], citations: Mapping[int, Json], length: int
) -> Iterator[CitationMarker]:
    """Markers of statements that have none but a source that Helix found, within ``length``."""
    for one in statements:
        if one.get("by") == "helix" and one["end"] <= length:
            for n in one["numbers"]:
                if citation := citations.get(n):
                    span = _span(statements, n, one["start"])
                    marker = _marker(citation, one["end"], one["end"], span)
                    yield replace(marker, by="helix")


def _numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",")]


def _span(statements: list[Json], n: int, offset: int) -> Json | None:
    """The span of source ``n`` for the statement around ``offset``; None where it has none."""
    for statement in statements:
        if statement["supported"] and statement["start"] <= offset < statement["end"]:
            return next((span for span in statement["spans"] if span["n"] == n), None)
    return None


def _marker(citation: Json, start: int, end: int, span: Json | None) -> CitationMarker:
    placed = span or citation | {"quote": None, "start": None, "end": None}
    return CitationMarker(
        citation["n"], start, end, placed["document_id"], placed["chunk_id"],
        place_of(citation["title"], citation["heading_path"], citation["label"]),
        placed["quote"], placed["start"], placed["end"],
        source_url=citation.get("source_url"),
    )  # fmt: skip


def linked(
    text: str, link: Link, markers: tuple[CitationMarker, ...] = ()
) -> tuple[str, tuple[CitationMarker, ...]]:
    """``text`` with `[1](address)` for each number that ``link`` has an address for.

    ``markers`` are those of ``text``; they are returned with their offsets in the linked text.
    """
    result, position = "", 0
    places: dict[tuple[int, int], tuple[int, int]] = {}
    ends, moved = [0], [0]  # of the markers: where each ends in ``text``, and in the result
    for match in MARKER.finditer(text):
        result += text[position : match.start()]
        position = match.end()
        addresses = [(n, link(n, match.start())) for n in _numbers(match[1])]
        if not any(address for _, address in addresses):
            result += match[0]
            continue
        for number, (n, address) in enumerate(addresses):
            result += " " if number else ""
            piece = f"[{n}]({address})" if address else f"[{n}]"
            places[match.start(), n] = len(result), len(result) + len(piece)
            result += piece
        ends.append(position)
        moved.append(len(result))
    result += text[position:]

    def with_offsets(marker: CitationMarker) -> CitationMarker:
        before = bisect_right(ends, marker.start) - 1
        at = moved[before] + marker.start - ends[before]  # of one that is not in the text
        start, end = places[marker.start, marker.n] if marker.by == "model" else (at, at)
        return replace(marker, start=start, end=end)

    return result, tuple(map(with_offsets, markers))


class Utf16:
    """Offsets of one text in UTF-16 code units, as JavaScript counts."""

    def __init__(self, text: str) -> None:
        self._wide = [at for at, character in enumerate(text) if character > "\uffff"]

    def units(self, offset: int) -> int:
        """The code units before the character at ``offset``."""
        return offset + bisect_left(self._wide, offset)
