"""Names that the server answers to, pages whose requests it takes, and what pages may do.

A page of any site can make a browser send requests to a server on the user's own machine. Where it
may not read the answers it can still write, or cost work; and where its own name is made to resolve
to this machine (DNS rebinding), it could read them too. No key stands in the way with
HELIX_AUTH=off, so the headers that a browser sets, and a page cannot, decide.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_PAGE_PATHS = ("/web/", "/docs", "/redoc", "/v1/sign-in/")
_PROBES = frozenset({"/healthz", "/health", "/readyz", "/metrics"})
"""Asked by name from inside a cluster; they tell nothing of a document."""

_UNKNOWN_HOST = "the server does not answer to this host name: put it into HELIX_HOSTS"
_OTHER_SITE = "a page of another site may not ask this server: see HELIX_CORS_ORIGINS"
Headers = dict[bytes, bytes]
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""An answer of the API is data: it is never run, framed, guessed at, or embedded elsewhere."""


class KnownHosts:
    """Refuse with 421 a request whose ``Host`` is no name of this server.

    Loopback names and addresses always are: a foreign page reaches the server under its own name
    only. With ``any_host`` every name is: where API keys are asked for, a foreign page has none.
    ``hosts`` are those of HELIX_HOSTS: ``docs.example.com``, ``*.example.com``, ``*``.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] = (), any_host: bool = False) -> None:
        self.app = app
        self._any = "*" in hosts or (any_host and not hosts)
        self._names = frozenset(hosts)
        self._endings = tuple(host[1:] for host in hosts if host.startswith("*."))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http" or self._any or scope["path"] in _PROBES:
            await self.app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"host"]
        if len(given) == 1 and self.answers_to(given[0].decode("latin-1")):
            await self.app(scope, receive, send)
        else:
            await JSONResponse({"error": _UNKNOWN_HOST}, status_code=421)(scope, receive, send)

    def answers_to(self, host: str) -> bool:
        """True if ``host``, a name or address with or without a port, is one of this server."""
        name = _name_of(host)
        if name is None:
            return False
        local = name == "localhost" or name.endswith(".localhost")
        known = name in self._names or name.endswith(self._endings)
        return local or known or _is_address(name)


def _name_of(host: str) -> str | None:
    """The name of ``host``, a Host header, in lower case, without port and last dot."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # a port that is no number is an error
    except ValueError:
        return None
    if not parts.hostname or parts.path or parts.query or parts.fragment or parts.username:
        return None
    before, _, after = parts.netloc.rpartition("]")
    if before and (before[0] != "[" or after[:1] not in ("", ":")):
        return None  # urlsplit passes over what stands beside the brackets of an address
    return parts.hostname.lower().removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class OwnPagesOnly:
    """Refuse with 403 what a page of another site makes a browser send.

    Other sites are also other ports and other names below the same domain. What changes something
    must come from a page of this server, or from none; so must what asks, for it costs work; a link
    may lead to the page alone. ``origins`` are those of HELIX_CORS_ORIGINS, whose pages may do all.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str] = ()) -> None:
        self.app = app
        self._origins = frozenset(origin.encode() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and self._is_foreign(scope):
            await JSONResponse({"error": _OTHER_SITE}, status_code=403)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_foreign(self, scope: Scope) -> bool:
        headers: Headers = dict(scope["headers"])
        if self._origins & {headers.get(b"origin"), b"*"}:
            return False
        if scope["method"] in SAFE_METHODS and _is_page(scope["path"]):
            return False
        site = headers.get(b"sec-fetch-site")
        if site is not None:  # said by the browser itself, and right behind any proxy
            return site in (b"cross-site", b"same-site")
        return not _same_origin(headers)


def _is_page(path: str) -> bool:
    """True if ``path`` is of the page's own files, which hold no data: any link may lead there.

    So may a provider of OpenID Connect to where it sends people back (routes/accounts/openid.py).
    """
    return path == "/" or path.startswith(_PAGE_PATHS)


def _same_origin(headers: Headers) -> bool:
    """True if ``Origin``, where there is one, names the host that the request is sent to.

    The scheme is not compared: a proxy in front of the server may be the one that speaks TLS.
    """
    origin = headers.get(b"origin")
    if origin is None:  # a browser leaves it out only where nothing is changed or read
        return True
    return origin.partition(b"://")[2].lower() == headers.get(b"host", b"").lower() != b""


class SecurityHeaders:
    """Add HEADERS to every answer, refusals and errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
