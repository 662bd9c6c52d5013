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
class Mark:
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


def source_link(base: str, mark: Mark) -> str:
    """The address at which the page shows the span of ``mark``; ``base`` is the server's."""
    place = f"{base}/#/source/{mark.document_id}"
    if mark.quote_start is None:
        return place
    return f"{place}?start={mark.quote_start}&end={mark.quote_end}"


def answer_link(base: str, answer_id: str) -> str:
    """The address of the page's view of a receipt: the answer with all its sources."""
    return f"{base}/#/answer/{answer_id}"


def marks_of(told: Mapping[str, Any], text: str | None = None) -> tuple[Mark, ...]:
    """The marks of an answer's JSON (``answer``, ``citations``, ``support``).

    ``text``: the beginning of the answer, where the client has only that. A marker in a statement
    without a span cites its document alone; a marker that cites no source is no mark.
    """
    citations = {citation["n"]: citation for citation in told["citations"]}
    statements = told["support"]["statements"]
    found = []
    for marker in MARKER.finditer(told["answer"] if text is None else text):
        for n in _numbers(marker[1]):
            if citation := citations.get(n):
                span = _span(statements, n, marker.start())
                found.append(_mark(citation, marker.start(), marker.end(), span))
    return tuple(found)


def _numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",")]


def _span(statements: list[Json], n: int, offset: int) -> Json | None:
    """The span of source ``n`` for the statement around ``offset``; None where it has none."""
    for statement in statements:
        if statement["supported"] and statement["start"] <= offset < statement["end"]:
            return next((span for span in statement["spans"] if span["n"] == n), None)
    return None


def _mark(citation: Json, start: int, end: int, span: Json | None) -> Mark:
    placed = span or citation | {"quote": None, "start": None, "end": None}
    return Mark(
        citation["n"], start, end, placed["document_id"], placed["chunk_id"],
        place_of(citation["title"], citation["heading_path"], citation["label"]),
        placed["quote"], placed["start"], placed["end"],
    )  # fmt: skip


def linked(text: str, link: Link, marks: tuple[Mark, ...] = ()) -> tuple[str, tuple[Mark, ...]]:
    """``text`` with `[1](address)` for each number that ``link`` has an address for.

    ``marks`` are those of ``text``; they are returned with their offsets in the linked text.
    """
    made, position = "", 0
    places: dict[tuple[int, int], tuple[int, int]] = {}
    for marker in MARKER.finditer(text):
        made += text[position : marker.start()]
        position = marker.end()
        addresses = [(n, link(n, marker.start())) for n in _numbers(marker[1])]
        if not any(address for _, address in addresses):
            made += marker[0]
            continue
        for number, (n, address) in enumerate(addresses):
            made += " " if number else ""
            piece = f"[{n}]({address})" if address else f"[{n}]"
            places[marker.start(), n] = len(made), len(made) + len(piece)
            made += piece
    made += text[position:]
    return made, tuple(_moved(mark, places) for mark in marks)


def _moved(mark: Mark, places: Mapping[tuple[int, int], tuple[int, int]]) -> Mark:
    start, end = places[mark.start, mark.n]
    return replace(mark, start=start, end=end)


class Utf16:
    """Offsets of one text in UTF-16 code units, as JavaScript counts."""

    def __init__(self, text: str) -> None:
        self._wide = [at for at, character in enumerate(text) if character > "\uffff"]

    def units(self, offset: int) -> int:
        """The code units before the character at ``offset``."""
        return offset + bisect_left(self._wide, offset)
