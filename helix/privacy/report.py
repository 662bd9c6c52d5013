"""The privacy report: which hosts Helix talked to, what is stored, where, and how much."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from psycopg.conninfo import conninfo_to_dict

from helix.library.access import Library
from helix.privacy.contacts import keep_contacts
from helix.privacy.counter import FARTHER, open_connections, process_counter, where_is
from helix.services import Services

COUNTED_BY = (
    "a hook on socket.connect and socket.getaddrinfo in every process of Helix; connections that"
    " the database's C library makes are under open_now, by the kernel's account"
)

_CONTACTS = """
SELECT process, kind, host, port, n, last_at, first_at FROM contacts ORDER BY last_at DESC
"""
_SHOWN = 500
_STORED = """
SELECT json_build_object(
    'documents', (SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s),
    'text_bytes', (SELECT coalesce(sum(octet_length(text)), 0) FROM documents
                   WHERE tenant_id = %(tenant)s),
    'chunks', (SELECT count(*) FROM chunks WHERE tenant_id = %(tenant)s),
    'files', (SELECT count(*) FROM files WHERE tenant_id = %(tenant)s),
    'file_bytes', (SELECT coalesce(sum(size), 0) FROM files
                   WHERE tenant_id = %(tenant)s),
    'answers', (SELECT count(*) FROM answers WHERE tenant_id = %(tenant)s))
"""


async def privacy_report(services: Services, library: Library) -> dict[str, Any]:
    """The report as GET /v1/privacy gives it; what is stored is counted for one tenant.

    Where API keys are asked for, the names of hosts that documents were fetched from are left
    out: they may be another tenant's. How many there are is told.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    contacts, since, outside = await asyncio.to_thread(_contacts, services)
    stored = await library.row(_STORED, {})
    shared = services.settings.auth == "off"  # with keys, workers' doings may be another tenant's
    told = [row for row in contacts if shared or not _of_others(row)]
    opened = [
        {"host": contact.host, "port": contact.port, "where": where_is(contact.host)}
        for contact in await asyncio.to_thread(partial(open_connections, children=shared))
    ]
    return {
        "since": since,
        "outside": outside or any(row["where"] == "outside" for row in opened),
        "contacts": told,
        "contacts_not_named": len(contacts) - len(told),
        "open_now": opened,
        "counted_by": COUNTED_BY,
        "database": database_place(services.settings.database_url),
        "models": services.models(),
        "stored": stored or {},
        "receipt_days": services.settings.receipt_days,
    }


def _contacts(services: Services) -> tuple[list[dict[str, Any]], str | None, bool]:
    """The latest contacts, since when they are counted, and whether any ever was outside."""
    keep_contacts(services.store, "serving", process_counter())
    with services.store.connection() as connection:
        rows = connection.execute(_CONTACTS).fetchall()
    outside = any(where_is(row[2]) == "outside" for row in rows)
    contacts = [
        {
            "process": process, "kind": kind, "host": host, "port": port or None,
            "where": where_is(host), "count": n, "last_at": last_at.isoformat(),
        }
        for process, kind, host, port, n, last_at, _ in rows[:_SHOWN]
    ]  # fmt: skip
    since = min((row[6] for row in rows), default=None)
    return contacts, since.isoformat() if since else None, outside


def _of_others(row: dict[str, Any]) -> bool:
    return bool(row["process"] == "ingesting" and row["where"] != "this machine")


def database_place(url: str) -> dict[str, Any]:
    """Where everything is kept, without user and password; a socket's folder is no host."""
    if url.partition(":")[0] == "embedded":
        return {"kind": "embedded", "host": None, "name": None, "where": "this machine"}
    said = conninfo_to_dict(url)
    hosts = [name for name in str(said.get("host", "")).split(",") if name and name[0] != "/"]
    distances = [where_is(name) for name in hosts] or ["this machine"]
    return {
        "kind": "server",
        "host": ", ".join(hosts) or None,
        "name": said.get("dbname"),
        "where": max(distances, key=FARTHER.index),
    }
