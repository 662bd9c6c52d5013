"""Requests to a server as values: the client that sends them takes a third of a second to load."""

from __future__ import annotations

from typing import Any

Request = dict[str, Any]
"""The fields of a ``helix.client.calls.Call``."""


def get(path: str, **params: Any) -> Request:
    """A GET request; parameters that are empty are left out."""
    return {
        "method": "GET", "path": path, "repeatable": True,
        "params": {name: it for name, it in params.items() if it},
    }  # fmt: skip


def send(
    method: str, path: str, body: Request | None = None, *, tenant_in_body: bool = False
) -> Request:
    """A request that changes something."""
    return {"method": method, "path": path, "json": body, "tenant_in_body": tenant_in_body}
