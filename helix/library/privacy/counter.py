"""Counts the hosts that this process contacts, at the socket.

CPython calls audit hooks (PEP 578) for every connect and every look-up of a name through its
sockets, whichever library makes it. uvloop connects in C, so the methods of its loop are wrapped.
Connections of other C libraries (libpq, to the database) are not counted here; the kernel's list of
open connections has them (``open_connections``).
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple

import psutil

Where = Literal["this machine", "private network", "outside"]
Kind = Literal["name", "address"]

FARTHER: tuple[Where, ...] = ("this machine", "private network", "outside")
"""From near to far."""
_CONNECTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})


class Contact(NamedTuple):
    """A name that was looked up, or an address connected to. ``port`` is 0 for a name."""

    kind: Kind
    host: str
    port: int


class SocketCounter:
    """Counts contacts since they were last taken; usable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Contact] = Counter()

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The audit hook: quick, and raises nothing, for Python calls it for every event."""
        if event in _CONNECTS and len(arguments) > 1:
            self.connected(arguments[1])
        elif event in _LOOKS_UP and arguments:
            self.record_lookup(arguments[0])

    def connected(self, address: object) -> None:
        """Count a connection to ``address``, (host, port, …); a Unix socket's path is not one."""
        if isinstance(address, tuple) and len(address) > 1 and isinstance(address[1], int):
            self._count(Contact("address", _text(address[0]), address[1]))

    def record_lookup(self, host: object) -> None:
        """Count a look-up of a name; looking up an address contacts nobody."""
        name = _text(host)
        if name and address_of(name) is None:
            self._count(Contact("name", name.lower().rstrip("."), 0))

    def drain(self) -> Counter[Contact]:
        """Return the counts since the last call, and start again from zero."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        return counts

    def add_back(self, counts: Counter[Contact]) -> None:
        """Add ``counts`` again, which were taken and could not be stored."""
        with self._lock:
            self._counts.update(counts)

    def _count(self, contact: Contact) -> None:
        with self._lock:
            self._counts[contact] += 1


def _text(host: object) -> str:
    if isinstance(host, bytes):
        return host.decode("utf-8", "replace")
    return host if isinstance(host, str) else ""


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """``host`` as an address, without its IPv6 zone; None for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def where_is(host: str) -> Where:
    """The distance of ``host``, a name or an address; every name but localhost is outside."""
    address = address_of(host)
    if address is None:
        is_local = host in ("", "localhost") or host.endswith(".localhost")
        return "this machine" if is_local else "outside"
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_loopback or mapped.is_unspecified:
        return "this machine"
    return "private network" if mapped.is_private or mapped.is_link_local else "outside"


def open_connections(*, children: bool = True) -> list[Contact]:
    """The connections that this process has open, as the kernel lists them.

    ``children``: also those of its child processes, workers among them.
    """
    contacts: dict[Contact, None] = {}
    this_process = psutil.Process()
    for process in (this_process, *(this_process.children(recursive=True) if children else ())):
        try:
            connections = process.net_connections(kind="inet")
        except psutil.Error:  # the process has ended meanwhile
            continue
        # connections to a port that is listened on were made by clients
        listening = {c.laddr.port for c in connections if c.status == psutil.CONN_LISTEN}
        for connection in connections:
            if connection.raddr and connection.laddr.port not in listening:
                contacts[Contact("address", connection.raddr.ip, connection.raddr.port)] = None
    return list(contacts)


_installing = threading.Lock()


def process_counter() -> SocketCounter:
    """The one counter of this process, which counts from the first call on.

    An audit hook cannot be removed, so there is one for the whole process.
    """
    with _installing:
        return _installed_counter()


@cache
def _installed_counter() -> SocketCounter:
    counter = SocketCounter()
    sys.addaudithook(counter.hear)
    _count_uvloop(counter)
    return counter


def _count_uvloop(counter: SocketCounter) -> None:
    try:
        from uvloop import Loop
    except ImportError:
        return
    for name in ("create_connection", "getaddrinfo"):
        setattr(Loop, name, _counting(getattr(Loop, name), name, counter))


def _counting(method: Callable[..., Any], name: str, counter: SocketCounter) -> Callable[..., Any]:
    def counted(loop: Any, *arguments: Any, **options: Any) -> Any:
        # create_connection has the factory in front of the host; with a socket it has neither
        positional = arguments[name == "create_connection" :]
        host = positional[0] if positional else options.get("host")
        port = positional[1] if len(positional) > 1 else options.get("port")
        counter.record_lookup(host)
        if name == "create_connection" and host is not None:
            counter.connected((host, port))
        return method(loop, *arguments, **options)

    return counted
