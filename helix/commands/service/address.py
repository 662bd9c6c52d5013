"""The server that a command names, by ``--server`` or HELIX_SERVER; loads no client yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer
from pydantic import SecretStr

from helix.errors import BadRequest
from helix.settings import load_client_settings

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL",
        help="A running server to ask, as http://localhost:8080; HELIX_SERVER if none.",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Server:
    """A running server: its address, and the key that it is shown."""

    address: str
    key: SecretStr | None = field(default=None, repr=False)


def named_server(option: str | None) -> Server | None:
    """The server of ``--server`` or HELIX_SERVER; None where neither names one.

    Raises:
        BadRequest: it is no address.
        SettingsError: as load_client_settings does.
    """
    settings = load_client_settings()
    address = option or settings.server
    if not address:
        return None
    if not address.startswith(("http://", "https://")):
        raise BadRequest(f"--server {address} is no address: give one like http://localhost:8080")
    return Server(address.rstrip("/"), settings.api_key)
