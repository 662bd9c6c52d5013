"""The typed state that the lifespan hands to every request."""

from __future__ import annotations

from typing import TypedDict

from starlette.requests import Request

from helix.services import Services


class State(TypedDict):
    """What the lifespan yields."""

    services: Services


def services(request: Request) -> Services:
    """The process's open services."""
    found = request.state.services
    assert isinstance(found, Services)
    return found
