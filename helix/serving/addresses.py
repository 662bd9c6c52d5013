"""The server's own address for its clients, in front of links."""

from __future__ import annotations

from fastapi import Request

from helix.settings import Settings


def base_of(request: Request, settings: Settings) -> str:
    """HELIX_URL, else the address that the request was sent to; without a slash at its end."""
    return (settings.url or str(request.base_url)).rstrip("/")
