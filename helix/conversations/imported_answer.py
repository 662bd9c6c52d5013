"""Imported answers: anybody may have written one, so proof is dropped and citations are verified.

A citation keeps its link where the document has its quote in that place. Sources have the form that
exports have: whatever shows them (the page, Markdown, Word) relies on that.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from helix.domain.input_text import storable
from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row, rows_of
from helix.storage.statements import imported_answers as sql

_TEXTS = ("answer", "reason", "reason_text", "clarifying_question")
_TOLD = ("n", "title", "label", "source_url", "quote", "snippet")
_NOWHERE = {"document_id": None, "chunk_id": None, "start": None, "end": None}
_PLACE = (*_NOWHERE, "quote")
_MOST = {"document_id": 2**63, "chunk_id": 2**63, "start": 2**31, "end": 2**31}

Place = tuple[Any, ...]
"""The document, chunk, start, end and quote of a citation."""
_NUMBER, _TEXT = (int,), (str, type(None))
_SPAN = {"n": _NUMBER, "quote": _TEXT, "start": (int, type(None)), "end": (int, type(None))}
_CITATION = _SPAN | {
    "title": _TEXT, "label": _TEXT, "source_url": _TEXT, "document_id": (int, type(None)),
    "chunk_id": (int, type(None)),
}  # fmt: skip


def without_proof(response: Row, documents: Container[int]) -> Row:
    """An imported response without its proof, and with links to ``documents`` alone."""
    citations = response.get("citations") or ()
    return _text_of(response) | {
        "citations": [
            one if one.get("document_id") in documents else _unlinked(one) for one in citations
        ]
    }


def verified_response(response: Row, places: Mapping[Place, Row]) -> Row:
    """A response to import without its proof, and with links to the verified ``places`` alone."""
    citations = []
    for one in response.get("citations") or ():
        found = places.get(_place(one))
        citations.append({"n": one["n"], **found} if found else _unlinked(one))
    return _text_of(response) | {"citations": citations}


def _text_of(response: Row) -> Row:
    told = {name: response[name] for name in _TEXTS if isinstance(response.get(name), str)}
    return told | {"abstained": bool(response.get("abstained"))}


def _unlinked(citation: Row) -> Row:
    told = {name: citation[name] for name in _TOLD if isinstance(citation.get(name), str | int)}
    return told | _NOWHERE


def _place(citation: Row) -> Place:
    return tuple(citation.get(name) for name in _PLACE)


def verified_places(
    connection: Connected, tenant: str, citations: Iterable[Row]
) -> dict[Place, Row]:
    """The places of ``citations`` where their quote is, with what is cited there.

    In the caller's transaction, of what that may read.
    """
    wanted = {_place(one) for one in citations if _is_place(one)}
    values = {name: [place[n] for place in wanted] for n, name in enumerate(_PLACE)}
    values["quote"] = [storable(quote) for quote in values["quote"]]
    rows = rows_of(connection, sql.VERIFIED, values | {"tenant": tenant})
    return {_place(row): row for row in rows}


def _is_place(citation: Row) -> bool:
    """True where a citation has a quote, and numbers that the database can have."""
    numbers = [(citation.get(name), most) for name, most in _MOST.items()]
    return bool(citation.get("quote")) and all(
        one is not None and 0 <= one < most for one, most in numbers
    )


def listed_documents(message: Any) -> dict[int, datetime]:
    """The documents that an exported message has words of, by id, and when each was added.

    Raises:
        BadRequest: what is listed are no documents.
    """
    listed = message.get("documents") if isinstance(message, dict) else None
    with suppress(KeyError, TypeError, ValueError):
        added = {
            one["document_id"]: datetime.fromisoformat(one["added_at"]) for one in listed or ()
        }
        if all(type(n) is int and 0 <= n < 2**63 and at.tzinfo for n, at in added.items()):
            return added
    raise BadRequest("the documents of a message are none that an export has")


async def known_documents(library: Library, messages: Iterable[Any]) -> set[int]:
    """The documents listed by exported ``messages`` that are the tenant's own, or were.

    An answer goes with each of them. The moment at which a document was added tells it from
    another database's of the same id.

    Raises:
        BadRequest: as ``listed_documents``.
        StoreUnavailable: the database did not answer.
    """
    added = {item for message in messages for item in listed_documents(message).items()}
    values = {"ids": [number for number, _ in added], "added": [moment for _, moment in added]}
    return {row["id"] for row in await library.whole.all_data(sql.KNOWN, values)}


def are_citations(found: Any) -> bool:
    """True where ``found`` is None or a list of citations, whose addresses are of the web."""
    return found is None or (isinstance(found, list) and all(map(_is_citation, found)))


def is_support(found: Any) -> bool:
    """True where ``found`` is None or a proof: statements with the spans that they rest on."""
    if found is None:
        return True
    statements = found.get("statements", []) if isinstance(found, dict) else None
    return isinstance(statements, list) and all(map(_is_statement, statements))


def _is_citation(found: Any) -> bool:
    return _has(found, _CITATION) and (found.get("source_url") or "https://").startswith(
        ("http://", "https://")
    )


def _is_statement(found: Any) -> bool:
    spans = found.get("spans", []) if isinstance(found, dict) else None
    return isinstance(spans, list) and all(_has(span, _SPAN) for span in spans)


def _has(found: Any, types: Mapping[str, tuple[type, ...]]) -> bool:
    """True where ``found`` is an object whose fields, as far as it has them, are of these types."""
    return (
        isinstance(found, dict)
        and "n" in found
        and all(type(found[name]) in kinds for name, kinds in types.items() if name in found)
    )
