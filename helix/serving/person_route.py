"""Routes for people who signed in, and for those who are about to: no API key opens them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, HTTPException, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from helix.library.access import Connected, paced
from helix.library.people.browser_sessions import SessionAccess
from helix.overload.entry import asker
from helix.overload.limits import limit_body
from helix.services import Services
from helix.serving.authentication import authenticate
from helix.serving.caller import Caller
from helix.serving.key_scopes import ScopeMissing, needed_standing

Result = TypeVar("Result")
_MOST_BYTES = 64 * 1024


class PersonRoute(APIRoute):
    """A route that knows its person, by the session of a browser alone, before it reads a body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind what the table of helix/serving/key_scopes.py asks for."""
        handler = super().get_route_handler()
        needed = needed_standing(self.methods or (), self.path)

        async def admitted(request: Request) -> Response:
            async with paced():
                if needed == "anybody":
                    asker(request).check_rate()
                else:
                    _check(request, await authenticate(request, None), owner=needed == "owner")
                too_long = HTTPException(413, "the body is larger than 64 kB, the limit")
                response = await handler(limit_body(request, _MOST_BYTES, too_long))
            response.headers["Cache-Control"] = "no-store"
            return response

        return admitted


def _check(request: Request, caller: Caller, owner: bool) -> None:
    if caller.session is None:
        request.state.refused_for = "no session"
        raise ScopeMissing("this is for a person who signed in: an API key does not open it")
    if owner and caller.session.role != "owner":
        request.state.refused_for = "role owner"
        raise ScopeMissing(f"this needs the role owner, and yours is {caller.session.role}")


@dataclass(frozen=True)
class Person:
    """Whoever signed in: their session, and the caller that it makes them."""

    caller: Caller
    session: SessionAccess

    async def change(self, action: Callable[[Connected], Result]) -> Result:
        """The result of ``action`` in one transaction with the owner's rights."""
        return await as_owner(self.caller.services, action)


async def as_owner(services: Services, action: Callable[[Connected], Result]) -> Result:
    """The result of ``action`` in one transaction with the owner's rights, in a thread."""

    def run() -> Result:
        with services.store.connection() as connection, connection.transaction():
            return action(connection)

    return await asyncio.to_thread(run)


async def _person(request: Request) -> Person:
    caller: Caller = request.state.caller  # PersonRoute has looked at it
    assert caller.session is not None
    return Person(caller, caller.session)


CurrentPerson = Annotated[Person, Depends(_person)]
