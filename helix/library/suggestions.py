"""The stored suggestions of a tenant: questions that were asked once, and whether that was good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helix.domain.suggestions import Material, Suggestion
from helix.domain.tables import Cell, Table
from helix.language.navigation import is_navigation
from helix.library.access import Connected, Library, Row

_DOCUMENTS = 24
_CHARACTERS = 100_000
_TABLES = 12
_MOST_CELLS = 400

_CHANGED = """
SELECT tenant_id, library FROM (
    SELECT tenant_id, count(*) || ' ' || max(updated_at) AS library
    FROM documents WHERE status = 'ready' GROUP BY tenant_id) now
WHERE NOT EXISTS (SELECT FROM suggested_questions
                  WHERE tenant_id = now.tenant_id AND library = now.library)
    AND NOT EXISTS (SELECT FROM runs WHERE tenant_id = now.tenant_id AND status = ANY(%s))
"""
_MATERIALS = """
SELECT d.id, d.title, left(d.text, %(characters)s) AS text, d.facts,
       (SELECT coalesce(jsonb_agg(DISTINCT section -> 'heading_path' ->> -1), '[]')
        FROM jsonb_array_elements(d.outline) section
        WHERE jsonb_array_length(section -> 'heading_path') > 0) AS headings,
       (SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t.ordinal), '[]') FROM (
            SELECT ordinal, start_char, end_char, row_paths, column_paths, cells
            FROM document_tables WHERE tenant_id = %(tenant)s AND document_id = d.id
                AND end_char < %(characters)s AND jsonb_array_length(cells) <= %(cells)s
            ORDER BY ordinal LIMIT %(tables)s) t) AS tables
FROM documents d JOIN (
    SELECT id, row_number() OVER (ORDER BY updated_at DESC, id DESC) - 1 AS place,
        (count(*) OVER () - 1) / %(documents)s + 1 AS step
    FROM documents WHERE tenant_id = %(tenant)s AND status = 'ready') spread USING (id)
WHERE d.tenant_id = %(tenant)s AND spread.place %% spread.step = 0
ORDER BY spread.place
"""
_SHOWN = """
SELECT s.question, s.document_id, d.title FROM suggested_questions s
JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
WHERE s.tenant_id = %(tenant)s AND s.is_supported
    AND (%(ids)s::bigint[] IS NULL OR s.document_id = ANY(%(ids)s))
    AND (%(tags)s::text[] IS NULL OR d.tags @> %(tags)s)
ORDER BY s.id
"""
_FORGET = "DELETE FROM suggested_questions WHERE tenant_id = %s"
# a document that was deleted meanwhile suggests nothing
_STORE = """
INSERT INTO suggested_questions (tenant_id, document_id, question, is_supported, library)
SELECT %(tenant)s, id, %(question)s, %(is_supported)s, %(library)s FROM documents
WHERE tenant_id = %(tenant)s AND id = %(document_id)s ON CONFLICT DO NOTHING
"""


def changed_libraries(connection: Connected, open_runs: Sequence[str]) -> list[tuple[str, str]]:
    """Each tenant whose documents changed since its questions were asked, and what they are now.

    One with a run of a status in ``open_runs`` is left out: more is to come.
    """
    return [(row[0], row[1]) for row in connection.execute(_CHANGED, (list(open_runs),))]


async def read_materials(library: Library) -> list[Material]:
    """The texts that questions are made from, of 24 documents at most, spread over the library.

    The documents that changed last come first, and the one that changed last is among them.
    """
    limits = {
        "documents": _DOCUMENTS, "characters": _CHARACTERS, "tables": _TABLES, "cells": _MOST_CELLS
    }  # fmt: skip
    return [_material(row) for row in await library.all_data(_MATERIALS, limits)]


def _material(row: Row) -> Material:
    return Material(
        row["id"],
        row["title"],
        row["text"] or "",
        row["facts"],
        tuple(name for name in row["headings"] if name and not is_navigation(name)),
        tuple(map(_table, row["tables"])),
    )


def _table(stored: Row) -> Table:
    paths: dict[str, Any] = {
        name: tuple(map(tuple, stored[name])) for name in ("row_paths", "column_paths")
    }
    cells = tuple(Cell(*cell) for cell in stored["cells"])
    span = stored["start_char"], stored["end_char"]
    return Table(*span, paths["row_paths"], paths["column_paths"], cells)


async def list_suggestions(
    library: Library, document_ids: Sequence[int] | None, tags: Sequence[str] | None
) -> list[Row]:
    """The questions whose answers were supported, with the documents that suggested them.

    None for ``document_ids`` and ``tags``: of any document.
    """
    narrowed = {"ids": document_ids and list(document_ids), "tags": tags and list(tags)}
    return await library.all_data(_SHOWN, narrowed)


async def store_suggestions(
    library: Library, suggestions: Sequence[tuple[Suggestion, bool]], changed: str
) -> None:
    """Replace the tenant's suggestions by these, each with whether its answer was supported."""

    def replace(connection: Connected) -> None:
        connection.execute(_FORGET, (library.tenant,))
        for one, is_supported in suggestions:
            connection.execute(
                _STORE,
                {
                    "tenant": library.tenant,
                    "document_id": one.document_id,
                    "question": one.question,
                    "is_supported": is_supported,
                    "library": changed,
                },
            )

    await library.change(replace)
