"""The server's own address, as its clients know it: in front of the links that it gives them."""

from __future__ import annotations

from fastapi import Request

from helix.settings import Settings


def base_of(request: Request, settings: Settings) -> str:
    """HELIX_URL, else the address that the request was sent to; without a slash at its end."""
    return (settings.url or str(request.base_url)).rstrip("/")
