"""The machine at the other end of a connection, checked before anything is read from it.

A name that was public when a source was looked at may lead into the network at the next look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import httpcore
import httpx

from pipelines.crawler.addresses import literal
from pipelines.crawler.guard import refusal_reason
from pipelines.sources.base import SourceError


def check_peer(address: str, host: str, allow_hosts: Collection[str] | None) -> None:
    """Return where a connection to ``address``, found by ``host``, may be used; None allows all.

    Raises:
        SourceError: it is private, and ``host`` is not among those allowed.
    """
    if allow_hosts is None:
        return
    named = {name.lower().partition(":")[0] for name in allow_hosts}
    why = refusal_reason(address, host.lower() in named, is_name=literal(host) is None)
    if why:
        raise SourceError(f"the address of {host} is {why}: allow it with HELIX_ALLOW_HOSTS={host}")


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
