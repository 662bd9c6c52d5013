"""The guard at the socket: a connection goes to a public address or is not made.

It sits where httpcore opens a connection, so there is no way round it: not by a redirect (each
is a request of its own), not by a spelling (what counts is the address), and not by a name that
answers differently the second time, for the checked address itself is what is connected to.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore
import httpx

from helix.errors import HelixError
from pipelines.crawler.addresses import LINK_LOCAL, METADATA, literal, unwrapped, why_not_public

NEVER_BY_NAME = (METADATA, LINK_LOCAL, "multicast", "unspecified", "reserved")
"""Kinds of address that an allowed name does not open, because a name's owner decides what it
resolves to. An allowed address opens itself, of whatever kind it is."""

BLOCKED_PORTS = frozenset(
    int(port)
    for port in """1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104
    109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531
    532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061
    6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 5432 3306 11211 27017""".split()
)
"""Ports of other protocols, as browsers block them (the "bad ports" of fetch.spec.whatwg.org), and
those of common databases. Any other port may serve pages."""


class ForbiddenAddress(HelixError):
    """A web address leads where Helix does not go; one line that says so and how to allow it."""

    status = 400


Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a name and a port to all addresses, as text. Raises OSError where there are none."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The addresses that the system gives (DNS, hosts file), in its order, each once."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections for httpcore, to public addresses and to the hosts named only.

    ``allow_hosts``: names or addresses, each with or without ``:port``, matched whole.
    """

    def __init__(
        self,
        allow_hosts: Iterable[str] = (),
        resolver: Resolver = system_resolver,
        inner: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._allowed_hosts = frozenset(_plain(host) for host in allow_hosts)
        self._resolve = resolver
        self._inner = inner or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect like httpcore's own backend, after the check.

        Raises:
            ForbiddenAddress: any of the host's addresses is not public, or the port is blocked.
        """
        error: Exception = httpcore.ConnectError("no address")
        for address in await self._checked(host, port, timeout):
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failure:
                error = failure
        raise error

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Always refused."""
        raise ForbiddenAddress("refused: a local socket is no web address")

    async def sleep(self, seconds: float) -> None:
        """Sleep like httpcore's own backend."""
        await asyncio.sleep(seconds)

    async def _checked(self, host: str, port: int, timeout: float | None) -> list[str]:  # noqa: ASYNC109
        """The addresses to try, every one of them checked; at most four, for each has its time."""
        try:
            spelled = literal(_plain(host))
        except ValueError as error:
            raise ForbiddenAddress(f"refused: {error}") from None
        name = str(unwrapped(spelled)) if spelled else _plain(host)
        is_allowed = name in self._allowed_hosts or _with_port(name, port) in self._allowed_hosts
        if port in BLOCKED_PORTS and _with_port(name, port) not in self._allowed_hosts:
            raise ForbiddenAddress(f"refused: port {port} of {name} is not one for web pages")
        addresses = [str(spelled)] if spelled else await self._addresses(name, port, timeout)
        for address in addresses:
            why = refusal_reason(address, is_allowed, is_name=spelled is None)
            if why:
                raise ForbiddenAddress(_refusal(name, address, why, is_allowed))
        return [str(unwrapped(ipaddress.ip_address(address))) for address in addresses[:4]]

    async def _addresses(self, name: str, port: int, timeout: float | None) -> list[str]:  # noqa: ASYNC109
        try:
            async with asyncio.timeout(timeout):
                addresses = list(await self._resolve(name, port))
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"the name {name} could not be looked up") from None
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise httpcore.ConnectError(f"there is no host {name}")
        return addresses


def refusal_reason(address: str, is_allowed: bool, *, is_name: bool) -> str | None:
    """The kind of address that is not gone to; None where it is. ``is_name``: a name led there."""
    try:
        why = why_not_public(ipaddress.ip_address(address))
    except ValueError:
        return "not an address"
    is_open = is_allowed and not (is_name and why in NEVER_BY_NAME)
    return None if is_open else why


def _refusal(name: str, address: str, why: str, is_allowed: bool) -> str:
    """The reason to refuse ``name``, without its address: that tells a stranger of the network."""
    where = name if name == address else f"the address of {name}"
    if is_allowed:
        return f"refused: {where} is {why}, which allowing a name does not open"
    if why in NEVER_BY_NAME:
        return f"refused: {where} is {why}"
    advice = f"allow it with --allow-host {name} or HELIX_ALLOW_HOSTS={name}"
    return f"refused: {where} is {why}: {advice}"


def _plain(host: str) -> str:
    """``host`` in the one spelling that is compared: lower case, no dot at the end."""
    host = host.strip().lower()
    if host.startswith("["):
        address, closed, port = host[1:].partition("]")
        return f"[{address}]{port}" if closed and port else address
    return host.rstrip(".")


def _with_port(name: str, port: int) -> str:
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Made once, for reading the certificates takes 30 ms; SSL_CERT_FILE adds an authority."""
    return httpx.create_ssl_context()


class GuardedTransport(httpx.AsyncHTTPTransport):
    """httpx's transport over the guard: HTTP/1.1, no proxy whatever the environment says.

    A kept connection is used again only for the scheme, host and port that it was checked for.
    """

    def __init__(self, backend: GuardedBackend) -> None:
        super().__init__(verify=_certificates(), trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_certificates(),
            max_connections=4,
            max_keepalive_connections=1,
            keepalive_expiry=10.0,
            network_backend=backend,
        )
