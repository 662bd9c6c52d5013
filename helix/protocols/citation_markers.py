"""The markers of an answer, each with the exact span of the document that it cites. Pure.

Every protocol makes its citations from these, so that all of them cite the same characters.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from helix.domain.citations import MARKER, place_of

Json = dict[str, Any]
Link = Callable[[int, int], str | None]
"""(number, offset of its marker in the answer) to the address of its link; None: no link."""


@dataclass(frozen=True, slots=True)
class CitationMarker:
    """One number of one marker.

    ``text[start:end]``, in code points, is its place in the text that the client gets. ``quote`` is
    ``documents.text[quote_start:quote_end]``, which states what the marker's sentence states; the
    three are None where no span does.
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


def source_link(base: str, marker: CitationMarker) -> str:
    """The address at which the page shows the span of ``marker``; ``base`` is the server's."""
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
    """The citation markers of an answer's JSON (``answer``, ``citations``, ``support``).

    ``text``: the beginning of the answer, where the client has only that. A marker in a statement
    without a span cites its document alone; a marker that cites no source is left out.
    """
    citations = {citation["n"]: citation for citation in answer["citations"]}
    statements = answer["support"]["statements"]
    markers = []
    for match in MARKER.finditer(answer["answer"] if text is None else text):
        for n in _numbers(match[1]):
            if citation := citations.get(n):
                span = _span(statements, n, match.start())
                markers.append(_marker(citation, match.start(), match.end(), span))
    return tuple(markers)


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
    )  # fmt: skip


def linked(
    text: str, link: Link, markers: tuple[CitationMarker, ...] = ()
) -> tuple[str, tuple[CitationMarker, ...]]:
    """``text`` with `[1](address)` for each number that ``link`` has an address for.

    ``markers`` are those of ``text``; they are returned with their offsets in the linked text.
    """
    result, position = "", 0
    places: dict[tuple[int, int], tuple[int, int]] = {}
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
    result += text[position:]
    return result, tuple(_with_offsets(marker, places) for marker in markers)


def _with_offsets(
    marker: CitationMarker, places: Mapping[tuple[int, int], tuple[int, int]]
) -> CitationMarker:
    start, end = places[marker.start, marker.n]
    return replace(marker, start=start, end=end)


class Utf16:
    """Offsets of one text in UTF-16 code units, as JavaScript counts."""

    def __init__(self, text: str) -> None:
        self._wide = [at for at, character in enumerate(text) if character > "\uffff"]

    def units(self, offset: int) -> int:
        """The code units before the character at ``offset``."""
        return offset + bisect_left(self._wide, offset)
