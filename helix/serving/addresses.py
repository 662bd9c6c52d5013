"""The server's own address for its clients, in front of links."""

from __future__ import annotations

import ipaddress

from fastapi import Request

from helix.errors import BadRequest
from helix.serving.network.origins import KnownHosts
from helix.settings import Settings


def base_of(request: Request, settings: Settings) -> str:
    """HELIX_URL, else the address that the request was sent to; without a slash at its end."""
    return (settings.url or str(request.base_url)).rstrip("/")


def base_for_others(request: Request, settings: Settings) -> str:
    """``base_of`` for a link that somebody else opens, with a secret in it.

    A ``Host`` is what the sender says. It is believed where HELIX_HOSTS has it, or where it is the
    address that the connection came to; another server of that name would be told the secret.

    Raises:
        BadRequest: HELIX_URL is not set, and the request names a server that may be another.
    """
    if settings.url is None and not _is_own(request, settings):
        raise BadRequest("the link would begin with an address that anybody may say: set HELIX_URL")
    return base_of(request, settings)


def _is_own(request: Request, settings: Settings) -> bool:
    name = request.base_url.hostname or ""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        named = [host for host in settings.hosts if host != "*"]
        return KnownHosts(request.app, named).answers_to(name)
    own = request.scope.get("server") or ("", None)
    return address.is_loopback or name == own[0]
