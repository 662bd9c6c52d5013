"""The addresses of the public internet, by our own table, for Python's changes by release.

From the IANA special-purpose registries for IPv4 and IPv6 (RFC 6890 and what updates it).
"""

from __future__ import annotations

import ipaddress
import re
import socket

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

METADATA = "a cloud's metadata service"
LINK_LOCAL = "link-local"

_SPECIAL: tuple[tuple[str, str], ...] = (
    (METADATA, "169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 100.100.100.200/32"),
    (METADATA, "192.0.0.192/32 168.63.129.16/32 fd00:ec2::/32 fd20:ce::/32"),
    ("unspecified", "0.0.0.0/8 ::/128"),
    ("loopback", "127.0.0.0/8 ::1/128"),
    ("private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10"),
    ("shared by a carrier's customers", "100.64.0.0/10"),
    (LINK_LOCAL, "169.254.0.0/16 fe80::/10"),
    ("multicast", "224.0.0.0/4 ff00::/8"),
    ("reserved", "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24"),
    ("reserved", "203.0.113.0/24 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20"),
)
SPECIAL: tuple[tuple[Network, str], ...] = tuple(
    (ipaddress.ip_network(network), name)
    for name, networks in _SPECIAL
    for network in networks.split()
)
"""First match names the address. 2001::/23 holds Teredo and 2002::/16 is 6to4: both can wrap a
private IPv4 address, both are out of use."""

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""The prefix that DNS64 gives a public IPv4 address where there is only IPv6 (RFC 6052)."""

_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)", re.IGNORECASE)


def why_not_public(address: Address) -> str | None:
    """The name of what ``address`` is if not public ("private", "loopback", …); None where it is.

    An IPv4 address inside an IPv6 one (mapped, NAT64) is judged as itself.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return LINK_LOCAL
        inner = embedded(address)
        if inner is not None:
            return why_not_public(inner)
    for network, name in SPECIAL:
        if address.version == network.version and address in network:
            return name
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST:
        return "reserved"
    return None


def embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that ``address`` stands for: ``::ffff:0:0/96`` and ``64:ff9b::/96``."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def unwrapped(address: Address) -> Address:
    """A mapped address as the IPv4 address it is: sockets for IPv6 may be closed to it."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def literal(host: str) -> Address | None:
    """The address that ``host`` spells, None where it is a name.

    Takes what C's ``inet_aton`` takes, for so does ``getaddrinfo``: ``2130706433``, ``0x7f.1`` and
    ``0177.0.0.1`` are 127.0.0.1.

    Raises:
        ValueError: the last label is a number, so it is no name, and no address either.
    """
    host = host.removeprefix("[").removesuffix("]")
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        if not _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
            return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host.rstrip(".")))
    except (OSError, UnicodeEncodeError):
        raise ValueError(f"{host} is not an address") from None
