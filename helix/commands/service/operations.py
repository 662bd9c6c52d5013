"""Operations that commands ask for, each written once: what it asks of a server, and the function
of the library that the server's route calls too (docs/decisions/0086).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from helix.commands.service.requests import Request
from helix.library.access import Library, Row

if TYPE_CHECKING:
    from helix.commands.service.server_connection import ServerConnection
    from helix.settings import Settings

_P = ParamSpec("_P")
_Service = TypeVar("_Service", bound="Service")


class Service:
    """The place that a command asks: a running server, or the tenant's library in the database."""

    def __init__(self, at: ServerConnection | Library, settings: Settings | None = None) -> None:
        self.server = None if isinstance(at, Library) else at
        self._library = at if isinstance(at, Library) else None
        self._settings = settings

    @property
    def library(self) -> Library:
        """The library, where no server is asked."""
        assert self._library is not None
        return self._library

    @property
    def settings(self) -> Settings:
        """The settings of the database, where no server is asked."""
        assert self._settings is not None
        return self._settings


def asked(
    request: Callable[..., Request],
) -> Callable[
    [Callable[Concatenate[_Service, _P], Awaitable[Row]]],
    Callable[Concatenate[_Service, _P], Awaitable[Row]],
]:
    """A method that asks the server for the JSON of ``request``, where there is a server.

    ``request`` has the method's parameters. Without a server the method itself answers.
    """

    def decorate(
        method: Callable[Concatenate[_Service, _P], Awaitable[Row]],
    ) -> Callable[Concatenate[_Service, _P], Awaitable[Row]]:
        @wraps(method)
        async def ask(service: _Service, /, *args: _P.args, **kwargs: _P.kwargs) -> Row:
            if service.server is None:
                return await method(service, *args, **kwargs)
            return await service.server.json(request(*args, **kwargs))

        return ask

    return decorate
