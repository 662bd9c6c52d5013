"""A proxy in front that says who signed in there: believed by the address that it connects from."""

from __future__ import annotations

import ipaddress

from fastapi import Request

from helix.settings import Settings


def told_by_proxy(request: Request, settings: Settings) -> str | None:
    """The address, in lower case, of whoever signed in at the proxy; None: no such proxy says.

    The connection comes from the proxy itself (``request.state.peer``): X-Forwarded-For may say
    anything. A header that is there twice says nothing.
    """
    given = request.headers.getlist(settings.proxy_header)
    if len(given) != 1 or not given[0].strip():
        return None
    try:
        peer = ipaddress.ip_address(getattr(request.state, "peer", ""))
    except ValueError:
        return None
    networks = map(ipaddress.ip_network, settings.proxy_addresses)
    return given[0].strip().lower() if any(peer in each for each in networks) else None
