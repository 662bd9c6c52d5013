"""The cookie of a session, the requests that it counts for, and the person that a proxy names.

It is HttpOnly, SameSite=Lax and, where the server's address is https, Secure under a name with
``__Host-``, which no other host can set. A request that a page of another origin had a browser send
has no session, whatever it carries; one that changes something shows besides that a page of this
server sent it.
"""

from __future__ import annotations

import ipaddress
import secrets
from datetime import timedelta

from fastapi import Request
from starlette.responses import Response

from helix.errors import HelixError
from helix.library.people.browser_sessions import SessionAccess, access_of_session
from helix.services import Services
from helix.serving.addresses import base_of
from helix.serving.network.origins import SAFE_METHODS
from helix.settings import Settings

NAME = "helix_session"
CSRF_HEADER = "X-CSRF-Token"
_DAY_SECONDS = 86400


class ForeignWrite(HelixError):
    """A change by cookie that no page of this server is known to have sent."""

    status = 403


def is_secure(request: Request, settings: Settings) -> bool:
    """True if browsers find the server under https."""
    return base_of(request, settings).startswith("https://")


def cookie_name(request: Request, settings: Settings, name: str = NAME) -> str:
    """The name of a cookie: with ``__Host-`` where it can have that."""
    return f"__Host-{name}" if is_secure(request, settings) else name


def secret_of(request: Request, settings: Settings) -> str:
    """The secret that the session's cookie brings; empty where there is none."""
    return request.cookies.get(cookie_name(request, settings), "")


def set_cookie(
    response: Response, request: Request, settings: Settings, value: str,
    name: str = NAME, seconds: int | None = None,
) -> None:  # fmt: skip
    """Have the browser keep ``value`` for ``seconds``, else as long as a session may last."""
    response.set_cookie(
        cookie_name(request, settings, name), value, path="/", httponly=True, samesite="lax",
        secure=is_secure(request, settings),
        max_age=settings.session_days * _DAY_SECONDS if seconds is None else seconds,
    )  # fmt: skip


async def session_of(request: Request, services: Services) -> SessionAccess | None:
    """The session of the request; None: it has none that opens anything.

    Raises:
        ForeignWrite: it would change something, and nothing shows that a page of ours sent it.
        StoreUnavailable: the database did not answer.
    """
    secret, settings = secret_of(request, services.settings), services.settings
    origin = _own_origin(request)
    if not secret or origin is False:
        return None
    session = await access_of_session(
        services.store, secret, timedelta(hours=settings.session_idle_hours)
    )
    told = told_by_proxy(request, settings)
    if session and told and told != session.email:  # somebody else sits at the browser by now
        return None
    if session is None or request.method in SAFE_METHODS or origin:
        return session
    if not secrets.compare_digest(
        request.headers.get(CSRF_HEADER, "").encode(), session.csrf.encode()
    ):
        raise ForeignWrite(f"send {CSRF_HEADER} with the csrf of GET /v1/session, or Origin")
    return session


def _own_origin(request: Request) -> bool | None:
    """True if a page of this server sent the request, False if another's; None: nothing says so.

    HELIX_CORS_ORIGINS does not count: its pages have keys of their own.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:  # set by the browser itself; none: somebody entered the address
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    if origin is None:
        return None
    host = request.headers.get("host", "").lower()
    return origin.partition("://")[2].lower() == host != ""


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
