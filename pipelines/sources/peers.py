"""The machine at the other end of a connection, checked before anything is read from it.

A name that was public when a source was looked at may lead into the network at the next look.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

import httpcore
import httpx

from pipelines.crawler.addresses import literal
from pipelines.crawler.guard import refusal_reason
from pipelines.crawler.urls import BadUrl, normal_host
from pipelines.sources.base import SourceError


def check_peer(address: str, host: str, allow_hosts: Collection[str] | None) -> None:
    """Return where a connection to ``address``, found by ``host``, may be used; None allows all.

    Raises:
        SourceError: it is private, and ``host`` is not among those allowed.
    """
    if allow_hosts is None:
        return
    named = {_without_port(name.lower()) for name in allow_hosts}
    why = refusal_reason(address, host.lower() in named, is_name=literal(host) is None)
    if why:
        raise SourceError(f"the address of {host} is {why}: allow it with HELIX_ALLOW_HOSTS={host}")


def _without_port(allowed: str) -> str:
    """The host of one of HELIX_ALLOW_HOSTS: a name, an address, either with a port behind it."""
    if allowed.startswith("["):
        return allowed[1:].partition("]")[0]
    return allowed if literal(allowed) else allowed.partition(":")[0]


def plain_host(host: str) -> str:
    """``host`` as every program spells it, in ASCII: programs disagree on what ``faß.example`` is.

    Raises:
        SourceError: it is neither a name nor an address.
    """
    try:
        return normal_host(host)
    except BadUrl:
        raise SourceError(f"there is no host {host}") from None


def checked_addresses(host: str, allow_hosts: Collection[str]) -> list[str]:
    """The addresses of ``host``, each of which may be connected to.

    Raises:
        SourceError: there is none, or one is private, and ``host`` is not among those allowed.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise SourceError(f"there is no host {host}") from None
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        check_peer(address, host, allow_hosts)
    return list(dict.fromkeys(addresses))


def host_keys(printed: str) -> list[str]:
    """Kind and key of each line that ssh-keyscan printed, or of what stands alone.

    A host in front is left out: it names its port where that is another than 22.

    Raises:
        SourceError: there is something, and no key in it.
    """
    # every public key of SSH begins so: the length of its kind, which is below 2^18
    keys = [f"{kind} {key}" for kind, key in pairwise(printed.split()) if key.startswith("AAAA")]
    if printed.strip() and not keys:
        raise SourceError("host_key has no key: give what `ssh-keyscan` prints of the machine")
    return keys


class _CheckedBackend(httpcore.SyncBackend):
    """Connections of httpcore, given out where their other end was checked."""

    def __init__(self, allow_hosts: Collection[str] | None) -> None:
        self._allow_hosts = allow_hosts

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect like httpcore's own, then check."""
        stream = super().connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            check_peer(str(stream.get_extra_info("server_addr")[0]), host, self._allow_hosts)
        except SourceError:
            stream.close()
            raise
        return stream


def checked_transport(allow_hosts: Collection[str] | None) -> httpx.HTTPTransport:
    """A transport of httpx that sends nothing to a machine that is not allowed; no proxy."""
    transport: Any = httpx.HTTPTransport(trust_env=False)
    transport._pool = httpcore.ConnectionPool(
        ssl_context=httpx.create_ssl_context(), network_backend=_CheckedBackend(allow_hosts)
    )
    checked: httpx.HTTPTransport = transport
    return checked
