"""Commands that list what an error of the library says a route lists."""

from __future__ import annotations

_COMMANDS = {
    "GET /v1/spaces lists": "`helix spaces list` lists",
    "GET /v1/documents lists": "`helix documents` lists",
    "GET /v1/runs lists": "`helix runs` lists",
    "GET /v1/study lists": "`helix study list` lists",
    "GET /v1/study/due lists": "`helix study due` lists",
}


def in_commands(message: str) -> str:
    """``message`` with the command that does what its route does, for a user of the terminal."""
    for route, command in _COMMANDS.items():
        message = message.replace(route, command)
    return message
