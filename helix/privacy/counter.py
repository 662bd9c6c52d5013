"""Counts what this process connects to, where it does: at the socket.

CPython tells audit hooks (PEP 578) of every connect and every look-up of a name made through its
sockets, whichever library makes it. uvloop connects in C: its loop is counted at the methods that
begin that. What other C libraries connect (libpq, to the database) is not seen here; the kernel's
list of open connections has it (``open_connections``).
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections import Counter
from collections.abc import Callable
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
    """Contacts and how often, since they were last taken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Contact] = Counter()

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The audit hook. It must be quick and never raise: it is called for every event."""
        if event in _CONNECTS and len(arguments) > 1:
            self.connected(arguments[1])
        elif event in _LOOKS_UP and arguments:
            self.looked_up(arguments[0])

    def connected(self, address: object) -> None:
        """Count a connection to ``address`` as sockets take it; a Unix socket's path is none."""
        if isinstance(address, tuple) and len(address) > 1 and isinstance(address[1], int):
            self._count(Contact("address", _text(address[0]), address[1]))

    def looked_up(self, host: object) -> None:
        """Count a look-up of a name; that of an address asks nobody."""
        name = _text(host)
        if name and address_of(name) is None:
            self._count(Contact("name", name.lower().rstrip("."), 0))

    def take(self) -> Counter[Contact]:
        """What was counted since the last time."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken

    def give_back(self, counts: Counter[Contact]) -> None:
        """Count again what was taken and could not be kept."""
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
    """``host`` if it is an address; an IPv6 zone is left aside."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def where_is(host: str) -> Where:
    """How far ``host``, a name or an address, is; a name counts as outside but for localhost."""
    address = address_of(host)
    if address is None:
        is_here = host in ("", "localhost") or host.endswith(".localhost")
        return "this machine" if is_here else "outside"
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_loopback or mapped.is_unspecified:
        return "this machine"
    return "private network" if mapped.is_private or mapped.is_link_local else "outside"


def open_connections(*, children: bool = True) -> list[Contact]:
    """Where this process is connected now, by the kernel's account.

    ``children``: and those that it started, workers among them.
    """
    found: dict[Contact, None] = {}
    here = psutil.Process()
    for process in (here, *(here.children(recursive=True) if children else ())):
        try:
            connections = process.net_connections(kind="inet")
        except psutil.Error:  # it has ended meanwhile
            continue
        listening = _listening(connections)
        for connection in connections:
            if connection.raddr and connection.laddr.port not in listening:
                found[Contact("address", connection.raddr.ip, connection.raddr.port)] = None
    return list(found)


def _listening(connections: list[Any]) -> set[int]:
    """Ports that are listened on: who is connected to them came to us."""
    return {c.laddr.port for c in connections if c.status == psutil.CONN_LISTEN}


_installed: list[SocketCounter] = []
_installing = threading.Lock()


def process_counter() -> SocketCounter:
    """This process's one counter; it begins to count when it is first asked for.

    A hook cannot be taken off again, so there is one for all that the process does.
    """
    with _installing:
        if not _installed:
            counter = SocketCounter()
            sys.addaudithook(counter.hear)
            _count_uvloop(counter)
            _installed.append(counter)
        return _installed[0]


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
        given = arguments[name == "create_connection" :]
        host = given[0] if given else options.get("host")
        port = given[1] if len(given) > 1 else options.get("port")
        counter.looked_up(host)
        if name == "create_connection" and host is not None:
            counter.connected((host, port))
        return method(loop, *arguments, **options)

    return counted
