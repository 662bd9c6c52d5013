"""/v1/session: signing in and out, and who one is."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from helix.errors import UpstreamError
from helix.library.access import Connected
from helix.library.keys import KEY_SCOPES, ROLE_SCOPES, KeyScope
from helix.library.people.browser_sessions import (
    SessionAccess,
    SignIn,
    access_of_session,
    begin_session,
    end_session,
    move_session,
)
from helix.library.people.invitations import SIGN_IN_PAGE
from helix.library.people.members import Membership, memberships
from helix.library.people.passkey_ceremonies import NoPasskeys, relying_party
from helix.library.people.passwords import LONGEST, person_of_password
from helix.overload.limits import address_of
from helix.services import Services
from helix.serving.addresses import base_of
from helix.serving.caller import Caller
from helix.serving.openid import OpenIdProvider
from helix.serving.person_route import CurrentPerson, PersonRoute, as_owner
from helix.serving.session_cookie import secret_of, set_cookie
from helix.serving.sign_in_guard import SignInGuard
from helix.serving.sse import TextJson
from helix.settings import PROXY

router = APIRouter(prefix="/v1", tags=["accounts"], route_class=PersonRoute)

# one line, whatever it was: it tells nobody which addresses have accounts
WRONG = "this address and this password open no account"
NOT_OWN = "this is not the password of your account"
Tenant = Annotated[str | None, Field(max_length=100)]


class Body(BaseModel):
    """The body of a request: nothing but what it names, so that nobody gives themselves a role."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Credentials(Body):
    """An address with its password; ``tenant``: of several the one to begin with."""

    email: str = Field(max_length=300)
    password: str = Field(max_length=LONGEST)
    tenant: Tenant = None


class Move(Body):
    """The tenant to look at from now on."""

    tenant: str = Field(max_length=100)


@router.get("/sign-in", summary="How people can sign in here")
async def ways(request: Request) -> dict[str, Any]:
    """`password`: with an address and a password; `providers` by `GET /v1/sign-in/{name}`.

    `passkeys`: with one of those, by `POST /v1/session/passkey/challenge`.
    """
    settings = request.state.services.settings
    providers = [{"name": each.name, "title": each.title or each.name} for each in settings.oidc]
    if settings.proxy_addresses:
        providers.append({"name": PROXY, "title": "single sign-on"})
    return {"password": True, "passkeys": has_passkeys(request), "providers": providers}


def has_passkeys(request: Request) -> bool:
    """True where the server has passkeys, at the address that the request came to."""
    try:
        relying_party(base_of(request, request.state.services.settings))
    except NoPasskeys:
        return False
    return True


@router.post("/session", summary="Sign in", responses={401: {"description": WRONG}})
async def sign_in(request: Request, given: Credentials) -> JSONResponse:
    """Sets the cookie of a new session; the one that the browser had ends.

    `429` after too many tries on the account or from the address, in a quarter of an hour.
    """
    services: Services = request.state.services
    guard: SignInGuard = request.state.sign_ins
    guard.check(address_of(request.scope), given.email.strip().lower())

    def look() -> int | None:
        with services.store.connection() as connection:
            return person_of_password(connection, given.email, given.password)

    person_id = await guard.run(look)
    if person_id is None:
        request.state.refused_for = "sign-in"
        raise HTTPException(401, WRONG)
    return await signed_in(request, person_id, SignIn("password"), given.tenant)


async def signed_in(
    request: Request, person_id: int, how: SignIn, tenant: str | None = None
) -> JSONResponse:
    """The answer to whoever has shown who they are: a new session, in place of the one there was.

    Raises:
        NoTenant: the person is a member of no tenant, or not of ``tenant``.
    """
    services: Services = request.state.services
    secret = await open_session(request, person_id, how, tenant)
    session = await access_of_session(services.store, secret, timedelta(minutes=1))
    if session is None:  # disabled at this very moment
        raise HTTPException(401, WRONG)
    _note(request, session, f"person {person_id}; session {session.id}; by {how.method}")
    response = TextJson(await _told(services, session))
    set_cookie(response, request, services.settings, secret)
    return response


async def open_session(
    request: Request, person_id: int, how: SignIn, tenant: str | None = None
) -> str:
    """The secret of a new session; that of the request's cookie has ended, whoever's it was."""
    services: Services = request.state.services
    life = timedelta(days=services.settings.session_days)
    before = secret_of(request, services.settings)
    client = request.headers.get("user-agent", "")
    here = SignIn(how.method, address_of(request.scope), client, how.id_token)

    def begin(connection: Connected) -> str:
        if before:
            end_session(connection, before)
        return begin_session(connection, person_id, here, life, tenant)

    return await as_owner(services, begin)


def _note(request: Request, session: SessionAccess, what: str) -> None:
    """Tell the audit log who signed in, though the request had nobody's session."""
    caller = Caller(request.state.services, session.tenant, keyed=True,
                    person_id=session.person_id, session=session, state=request.state)  # fmt: skip
    request.state.caller = caller
    caller.changed(what)


@router.get("/session", summary="Who signed in")
async def who(person: CurrentPerson) -> JSONResponse:
    """The person, the tenant that they look at, their role there, and the tenants they may choose.

    `csrf` goes into the header `X-CSRF-Token` of a request that changes something, where it is not
    a browser that sends it.
    """
    return TextJson(await _told(person.caller.services, person.session))


@router.patch("/session", summary="Look at another tenant")
async def move(request: Request, person: CurrentPerson, to: Move) -> JSONResponse:
    """Holds from the next request of this browser on."""
    await person.change(partial(move_session, session_id=person.session.id, tenant=to.tenant))
    services = person.caller.services
    person.caller.changed(f"session {person.session.id}")
    idle = timedelta(hours=services.settings.session_idle_hours)
    secret = secret_of(request, services.settings)
    session = await access_of_session(services.store, secret, idle)
    return TextJson(await _told(services, session or person.session))


@router.delete("/session", summary="Sign out")
async def sign_out(request: Request, person: CurrentPerson) -> JSONResponse:
    """Ends the session and takes its cookie back. `next`: where its provider's ends too, if any."""
    settings = person.caller.services.settings
    ended = await person.change(partial(end_session, secret=secret_of(request, settings)))
    person.caller.changed(f"session {person.session.id}")
    response = JSONResponse({"next": await _provider_logout(request, *(ended or ("", "")))})
    set_cookie(response, request, settings, "", seconds=0)
    return response


async def _provider_logout(request: Request, method: str, id_token: str) -> str | None:
    settings = request.state.services.settings
    providers: dict[str, OpenIdProvider] = request.state.providers
    for provider in providers.values():
        if provider.given.issuer == method and id_token:
            with suppress(UpstreamError):  # the session here has ended all the same
                back = f"{base_of(request, settings)}{SIGN_IN_PAGE}"
                return await provider.logout_url(id_token, back)
    return None


def own_scopes(session: SessionAccess) -> frozenset[KeyScope]:
    """The scopes of the person's role, and ``write`` for who may change a space."""
    in_spaces: frozenset[KeyScope] = frozenset() if session.edits == () else frozenset({"write"})
    return ROLE_SCOPES[session.role] | in_spaces


async def _told(services: Services, session: SessionAccess) -> dict[str, Any]:
    def found(connection: Connected) -> list[Membership]:
        return memberships(connection, session.person_id)

    tenants = await as_owner(services, found)
    scopes = own_scopes(session)
    return {
        "person": {"id": session.person_id, "email": session.email, "name": session.name},
        "tenant": session.tenant,
        "role": session.role,
        "scopes": [scope for scope in KEY_SCOPES if scope in scopes],
        "tenants": [{"tenant": each.tenant, "role": each.role} for each in tenants],
        "csrf": session.csrf,
    }
