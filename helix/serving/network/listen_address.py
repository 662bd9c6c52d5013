"""Addresses that a server may listen on: this machine's, or wider where that was meant."""

from __future__ import annotations

import ipaddress

from helix.errors import SettingsError
from helix.settings import Settings


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
