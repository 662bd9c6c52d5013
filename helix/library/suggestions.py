"""The stored suggestions of a tenant: questions that were asked once, and whether that was good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helix.domain.suggestions import Material, Suggestion
from helix.domain.tables import Cell, Table
from helix.language.navigation import is_navigation
from helix.library.access import Connected, Library, Row
from helix.storage.statements import suggestions as sql

_DOCUMENTS = 24
_CHARACTERS = 100_000
_TABLES = 12
_MOST_CELLS = 400


def changed_libraries(connection: Connected, open_runs: Sequence[str]) -> list[tuple[str, str]]:
    """Each tenant whose documents changed since its questions were asked, and what they are now.

    One with a run of a status in ``open_runs`` is left out: more is to come.
    """
    return [(row[0], row[1]) for row in connection.execute(sql.CHANGED, (list(open_runs),))]


async def read_materials(library: Library) -> list[Material]:
    """The texts that questions are made from, of 24 documents at most, spread over the library.

    The documents that changed last come first, and the one that changed last is among them.
    """
    limits = {
        "documents": _DOCUMENTS, "characters": _CHARACTERS, "tables": _TABLES, "cells": _MOST_CELLS
    }  # fmt: skip
    return [_material(row) for row in await library.all_data(sql.MATERIALS, limits)]


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
    return await library.all_data(sql.SHOWN, narrowed)


async def store_suggestions(
    library: Library, suggestions: Sequence[tuple[Suggestion, bool]], changed: str
) -> None:
    """Replace the tenant's suggestions by these, each with whether its answer was supported."""

    def replace(connection: Connected) -> None:
        connection.execute(sql.FORGET, (library.tenant,))
        for one, is_supported in suggestions:
            connection.execute(
                sql.STORE,
                {
                    "tenant": library.tenant,
                    "document_id": one.document_id,
                    "question": one.question,
                    "is_supported": is_supported,
                    "library": changed,
                },
            )

    await library.change(replace)
