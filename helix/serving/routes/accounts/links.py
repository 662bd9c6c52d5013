"""/v1/links: links that make an account, set its password, or bring it into another tenant.

The secret of a link is in the body of a request and in the fragment of its address, which browsers
send to nobody: so it is in no log.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from helix.library.access import Connected
from helix.library.people.browser_sessions import SignIn
from helix.library.people.invitations import accept, join, purpose_of
from helix.library.people.passwords import LONGEST
from helix.library.people.persons import as_stored
from helix.overload.limits import address_of
from helix.services import Services
from helix.serving.person_route import CurrentPerson, PersonRoute, as_owner
from helix.serving.routes.accounts.session import Body, signed_in
from helix.serving.sign_in_guard import SignInGuard

router = APIRouter(prefix="/v1/links", tags=["accounts"], route_class=PersonRoute)


class Link(Body):
    """A link's secret."""

    link: str = Field(max_length=100)


class Use(Link):
    """The account that is wanted; ``email`` counts only where the link names none."""

    password: str = Field(max_length=LONGEST)
    email: str = Field("", max_length=300)
    name: str = Field("", max_length=300)


@router.post("/look", summary="What a link is for")
async def look(request: Request, given: Link) -> dict[str, Any]:
    """`410` where it was used or has ended. `resets`: it sets the password of an account."""
    services: Services = request.state.services
    _count(request)
    purpose = await as_owner(services, partial(purpose_of, secret=given.link))
    return {"tenant": purpose.tenant, "email": purpose.email, "role": purpose.role,
            "resets": purpose.resets}  # fmt: skip


@router.post("/use", summary="Make an account, or set its password")
async def use(request: Request, given: Use) -> JSONResponse:
    """Signs the person in. A new password ends the sessions that the account had.

    Whoever is invited and has an account comes in by its own password; another is a `409`.
    """
    services: Services = request.state.services
    purpose = await as_owner(services, partial(purpose_of, secret=given.link))
    guard = _count(request, as_stored(purpose.email or given.email))

    def run() -> tuple[int, str | None]:
        with services.store.connection() as connection, connection.transaction():
            return accept(connection, given.link, given.password, given.email, given.name)

    person_id, tenant = await guard.run(run)
    return await signed_in(request, person_id, SignIn("link"), tenant)


@router.post("/join", summary="Come into the tenant of a link with the account that one has")
async def enter(person: CurrentPerson, given: Link) -> dict[str, Any]:
    """The link names the address of the account; a role that the person has there stays."""

    def run(connection: Connected) -> str:
        return join(connection, given.link, person.session.person_id, person.session.email)

    tenant = await person.change(run)
    person.caller.changed(f"person {person.session.person_id}; joined")
    return {"tenant": tenant}


def _count(request: Request, account: str | None = None) -> SignInGuard:
    guard: SignInGuard = request.state.sign_ins
    guard.check(address_of(request.scope), account)
    return guard
