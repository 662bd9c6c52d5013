"""The privacy report: which hosts Helix talked to, what is stored, where, and how much."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from helix.library.access import Library
from helix.library.privacy.contacts import store_contacts, store_kept_contacts
from helix.library.privacy.counter import FARTHER, open_connections, process_counter, where_is
from helix.settings import Settings
from helix.storage.objects import endpoint
from helix.storage.statements import privacy as sql
from helix.storage.tenant_store import TenantStore

COUNTED_BY = (
    "a hook on socket.connect and socket.getaddrinfo in every process of Helix; connections that"
    " the database's C library and the bucket's client make are under open_now, by the kernel's"
    " account"
)

_MOST_SHOWN = 500
"""Contacts that the report lists, the latest first."""


async def privacy_report(
    settings: Settings, store: TenantStore, library: Library, models: Mapping[str, str | None]
) -> dict[str, Any]:
    """The report of GET /v1/privacy; stored rows are counted for the tenant of ``library``.

    Where API keys are required, hosts that documents were fetched from are not named: they may be
    another tenant's. The report says how many they are.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    contacts, since, outside = await asyncio.to_thread(_counted_contacts, store)
    stored = await library.row(sql.STORED, {})
    lists_all = settings.auth == "off"
    listed = [
        row for row in contacts
        if lists_all or row["process"] != "ingesting" or row["where"] == "this machine"
    ]  # fmt: skip
    open_now = [
        {"host": contact.host, "port": contact.port, "where": where_is(contact.host)}
        for contact in await asyncio.to_thread(partial(open_connections, children=lists_all))
    ]
    files = files_place(settings.files)
    return {
        "since": since,
        "outside": outside or any(row["where"] == "outside" for row in [*open_now, files]),
        "contacts": listed,
        "contacts_not_named": len(contacts) - len(listed),
        "open_now": open_now,
        "counted_by": COUNTED_BY,
        "database": database_place(settings.database_url),
        "files": files,
        "models": dict(models),
        "stored": stored or {},
        "receipt_days": settings.receipt_days,
    }


def _counted_contacts(store: TenantStore) -> tuple[list[dict[str, Any]], str | None, bool]:
    """(the latest contacts, when counting began, whether any contact ever was outside).

    Stores before what this process and commands have counted and not stored yet.
    """
    store_contacts(store, "serving", process_counter())
    store_kept_contacts(store)
    with (
        store.connection() as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        rows = cursor.execute(sql.CONTACTS).fetchall()
    began = min((row.pop("first_at") for row in rows), default=None)
    contacts = [
        {
            "process": row["process"], "kind": row["kind"], "host": row["host"],
            "port": row["port"], "where": where_is(row["host"]), "count": row["count"],
            "last_at": row["last_at"].isoformat(),
        }
        for row in rows
    ]  # fmt: skip
    outside = any(contact["where"] == "outside" for contact in contacts)
    return contacts[:_MOST_SHOWN], began.isoformat() if began else None, outside


def files_place(address: str | None) -> dict[str, Any]:
    """The place of original files: the ``database``, or the bucket of HELIX_FILES."""
    if address is None:
        return {"kind": "database", "where": None}
    host = urlsplit(endpoint()).hostname or "amazonaws.com"
    return {"kind": "bucket", "address": address, "host": host, "where": where_is(host)}


def database_place(url: str) -> dict[str, Any]:
    """The database server of ``url``, without user and password; a socket has no host."""
    if url.partition(":")[0] == "embedded":
        return {"kind": "embedded", "host": None, "name": None, "where": "this machine"}
    parts = conninfo_to_dict(url)
    hosts = [name for name in str(parts.get("host", "")).split(",") if name and name[0] != "/"]
    distances = [where_is(name) for name in hosts] or ["this machine"]
    return {
        "kind": "server",
        "host": ", ".join(hosts) or None,
        "name": parts.get("dbname"),
        "where": max(distances, key=FARTHER.index),
    }
