"""Documents of a scope, and the passages and tables of one: by page, heading or characters."""

from __future__ import annotations

from typing import Any

from helix.domain.scope import Scope
from helix.storage.statements import compose, hits
from helix.storage.statements import document_parts as sql
from helix.storage.statements.scopes import scope_condition

Statement = tuple[str, dict[str, Any]]
"""A statement and its bound values."""


def documents_of(scope: Scope, wanted: str, most: int) -> Statement:
    """The first ``most`` documents of ``scope`` by name whose title or facts have these words."""
    words = [f"%{word}%" for word in wanted.lower().replace("%", " ").replace("_", " ").split()]
    return _bound(sql.DOCUMENTS, scope, wanted=words or None, most=most)


def document_of(scope: Scope, document_id: int) -> Statement:
    """One document with its text and outline; no row where it is not in ``scope``."""
    return _bound(sql.DOCUMENT, scope, document_id=document_id)


def passages_of(
    scope: Scope,
    document_id: int,
    most: int,
    *,
    page: int | None = None,
    heading: str | None = None,
    start: int | None = None,
    end: int | None = None,
) -> Statement:
    """The first ``most`` chunks of a part of a document, in its order, as ``hit_of`` reads rows.

    The part is a page, what stands under headings that have these words, a range of characters.
    """
    return _bound(
        sql.PASSAGES, scope, document_id=document_id, most=most, page=page, heading=heading,
        start=start, end=end,
    )  # fmt: skip


def passages_at(scope: Scope, places: list[tuple[int, int, int]]) -> Statement:
    """The chunk that holds each of ``places`` (document, start, end), as ``hit_of`` reads rows."""
    documents, starts, ends = (list(each) for each in zip(*places, strict=True))
    return _bound(sql.PASSAGES_AT, scope, documents=documents, starts=starts, ends=ends)


def tables_of(scope: Scope, documents: list[int] | None, most: int, cells: int) -> Statement:
    """The first ``most`` tables of ``documents``, or of all in ``scope``, of ``cells`` at most.

    ``text`` is the table's text, which begins at ``start_char`` of its document.
    """
    return _bound(sql.TABLES, scope, documents=documents, most=most, cells=cells)


def _bound(statement: str, scope: Scope, **values: Any) -> Statement:
    told = compose(
        statement, columns=hits.COLUMNS, joined=hits.JOIN,
        condition=scope_condition(scope.narrowed_by),
    )  # fmt: skip
    return told, {"tenant": scope.tenant, **scope.filters(), **values}


def documents_by_name(scope: Scope, most: int) -> Statement:
    """The ``title`` of the first ``most`` documents of ``scope`` by name, ``total`` in each row."""
    statement = compose(sql.TITLES, condition=scope_condition(scope.narrowed_by))
    return statement, {"tenant": scope.tenant, "most": most, **scope.filters()}


def section_leads(scope: Scope, document_id: int, most: int) -> Statement:
    """The first chunks of a document's sections, in its order, as ``hit_of`` reads rows."""
    return sql.SECTION_LEADS, {"tenant": scope.tenant, "document_id": document_id, "most": most}
