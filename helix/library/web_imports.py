"""Runs that bring in pages of the web: one page, or those of a site; asked for, found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from helix.errors import BadRequest, HelixError
from helix.library.pagination import check_text
from helix.library.runs import create_run, find_open_run
from helix.storage.connections import Connected
from helix.storage.statements import uploads as sql

APART = "#space-"
"""Between a page's address and its space: the source_uri of what comes into some alone."""
_MAX_URL = 2000


class WebImportsOff(HelixError):
    """HELIX_WEB_IMPORTS=0: this server brings in no page of the web."""

    status = 403

    def __init__(self) -> None:
        super().__init__(
            "this server brings in no pages of the web (HELIX_WEB_IMPORTS=0):"
            " upload files, or ask whoever runs it"
        )


def start_import(
    connection: Connected, kind: Literal["url", "crawl"], options: Mapping[str, Any], tenant: str
) -> int:
    """A run of these options; the one under way for the same, if there is. In a transaction."""
    identity = json.dumps([kind, options], sort_keys=True)
    key = hashlib.sha256(identity.encode()).hexdigest()
    lock = f"{tenant} {key}"
    connection.execute(sql.LOCK_IMPORT, (lock,))
    return find_open_run(connection, key, tenant) or create_run(
        connection, kind, options, key, tenant=tenant
    )


def apart(url: str, space: int, number: int = 1) -> str:
    """The source_uri of a page as a document of a space; it opens as the page's address does."""
    return f"{url}{APART}{space}" + (f"-{number}" if number > 1 else "")


def web_address(text: str) -> str:
    """The address, if it can be one at all; where it leads is for the fetch to judge.

    Raises:
        BadRequest: it is none, not of the web, or carries a password.
    """
    url = check_text("url", text, _MAX_URL)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or any(c.isspace() for c in url):
        raise BadRequest("url must be the address of a web page, such as https://example.com/docs")
    if "@" in parts.netloc:
        raise BadRequest("url carries a user name or password: leave it out")
    return url
