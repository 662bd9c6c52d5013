"""The sockets that a server listens on, bound before anything else of it starts."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Sequence
from contextlib import ExitStack

from helix.errors import SettingsError
from helix.settings import Settings

ACCEPTED_AT_ONCE = 32
"""Connections that an event loop takes of one socket in an iteration, at a system call each."""


def bind(host: str, port: int) -> list[socket.socket]:
    """A bound socket for each address of ``host``; nobody can connect until it listens.

    Of port 0 all get the one free port that the first is given.

    Raises:
        SettingsError: the port is in use or not allowed, or ``host`` is no address of this machine.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise SettingsError(f"--host {host} is not a name or an address of this machine") from None
    bound: list[socket.socket] = []
    with ExitStack() as opened:
        for family, kind, _, _, address in dict.fromkeys(found):
            try:
                made = opened.enter_context(socket.socket(family, kind))
                _bind(made, (address[0], port, *address[2:]))
            except OSError as error:
                if error.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL) and len(found) > 1:
                    continue  # a machine without IPv6 has its name for localhost all the same
                raise _refused(error, host, port) from None
            port = made.getsockname()[1]
            bound.append(made)
        if not bound:
            raise SettingsError(f"--host {host} is not an address of this machine")
        opened.pop_all()
    return bound


def _bind(made: socket.socket, address: tuple[object, ...]) -> None:
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if made.family == socket.AF_INET6:  # else it would take the port of IPv4 along
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    made.bind(address)


def _refused(error: OSError, host: str, port: int) -> SettingsError:
    if error.errno == errno.EADDRINUSE:
        return port_in_use(port)
    if error.errno == errno.EACCES:
        return SettingsError(f"port {port} is not allowed to this user: take one above 1023")
    return SettingsError(f"--host {host} is not an address of this machine")


def port_in_use(port: int) -> SettingsError:
    """The error for a port on which another program listens."""
    return SettingsError(
        f"port {port} is in use: end the program that listens there, or take another port"
        " with --port (0 finds a free one)"
    )


def is_listening(bound: socket.socket) -> bool:
    """True where the socket accepts connections; uvloop closes one in silence that cannot."""
    try:
        return bool(bound.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:
        return False


def accepting(sockets: Sequence[socket.socket]) -> list[socket.socket]:
    """``sockets``, which are bound, and copies of each for the event loop to listen on as well.

    uvloop accepts one connection of a listener in each iteration of its loop (libuv since 1.47
    does). Of a thousand at once the last would wait a thousand iterations, and each is as long as
    the work that is ready in it: seconds, for 0.1 ms of work.

    None of them blocks, from here on: ``dup`` sets the mode of the one that it copies anew, and
    processes share it. One that starts had the others wait in ``accept``, with all that they did.
    """
    for each in sockets:
        each.setblocking(False)
    return [*sockets, *(each.dup() for each in sockets for _ in range(ACCEPTED_AT_ONCE - 1))]


def check_address(host: str, settings: Settings) -> None:
    """Return where a server of ``settings`` may listen on ``host``, a name or an address.

    Raises:
        SettingsError: everybody who reaches ``host`` could read and delete all documents.
    """
    if is_loopback(host) or settings.auth != "off" or settings.open_network:
        return
    raise SettingsError(
        f"on {host} anybody in the network could read and delete every document: set"
        " HELIX_AUTH=accounts, and people sign in, or HELIX_AUTH=keys and make keys with"
        " `helix keys create`, or, where something else keeps strangers out, HELIX_OPEN_NETWORK=1"
    )


def is_loopback(host: str) -> bool:
    """True if ``host`` is reached from this machine alone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
