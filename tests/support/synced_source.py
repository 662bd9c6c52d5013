"""A source in a database of tests, and its syncs by a worker of this process."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg

from helix.domain.scope import DEFAULT_TENANT
from helix.library.sources import add_source, sources_of, start_sync, told_of
from helix.library.spaces import add_space
from tests.support.fake_embedder import rows
from tests.support.worker_runs import carried_out

_DOCUMENTS = """
SELECT e.key, d.id FROM source_entries e JOIN documents d ON d.id = e.document_id
WHERE e.source_id = %s ORDER BY e.key
"""
_SPACES = """
SELECT e.key, d.spaces FROM source_entries e JOIN documents d ON d.id = e.document_id
WHERE e.source_id = %s
"""
_CHUNKS = "SELECT id FROM chunks ORDER BY id"


def spaces_named(url: str, *names: str) -> list[int]:
    """New spaces of the default tenant; their ids."""
    with psycopg.connect(url) as connection:
        return [add_space(connection, DEFAULT_TENANT, name) for name in names]


class SyncedSource:
    """A source of the default tenant, added by whoever runs the server."""

    def __init__(self, url: str, kind: str, address: str, **given: Any) -> None:
        self.url = url
        with psycopg.connect(url) as connection:
            whole = {"name": "Tried", "kind": kind, "address": address, **given}
            self.id = add_source(connection, DEFAULT_TENANT, whole, trusted=True)

    def start(self, **options: bool) -> int:
        """Ask for a sync; the id of its run."""
        with psycopg.connect(self.url) as connection:
            return start_sync(connection, DEFAULT_TENANT, self.id, **options)[0]

    def sync(self, **options: bool) -> dict[str, Any]:
        """Sync it to the end; how it stands then."""
        self.start(**options)
        asyncio.run(carried_out(self.url))
        return self.row()

    def row(self) -> dict[str, Any]:
        with psycopg.connect(self.url) as connection:
            (row,) = sources_of(connection, DEFAULT_TENANT, [self.id])
        return row

    def told(self) -> dict[str, str]:
        """By key, why an entry waits or was not read."""
        with psycopg.connect(self.url) as connection:
            told = told_of(connection, DEFAULT_TENANT, self.id)
        return {row["key"]: row["reason"] or "gone" for row in told}

    def documents(self) -> dict[str, int]:
        """The id of the document of each entry that has one."""
        return dict(rows(self.url, _DOCUMENTS, self.id))

    def spaces(self) -> dict[str, list[int]]:
        """The spaces that the document of each entry stands in."""
        return {key: sorted(listed) for key, listed in rows(self.url, _SPACES, self.id)}

    def texts(self) -> dict[str, str]:
        """By key, the text that answers are made from."""
        found = rows(self.url, "SELECT source_uri, text FROM documents")
        return {uri.partition("/")[2]: text for uri, text in found}

    def chunks(self) -> list[int]:
        """The ids of all chunks, in order."""
        return [number for (number,) in rows(self.url, _CHUNKS)]
