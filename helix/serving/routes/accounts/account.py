"""/v1/account: one's own name, password, sessions and personal access tokens."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from helix.errors import BadRequest, NotFound
from helix.library.access import Connected
from helix.library.keys import checked_scopes, create_key, list_tokens, revoke_token
from helix.library.people.browser_sessions import list_sessions, revoke_session, revoke_sessions
from helix.library.people.passwords import LONGEST, person_of_password, set_password
from helix.library.people.persons import checked_name, set_name
from helix.overload.limits import address_of
from helix.serving.key_scopes import ScopeMissing
from helix.serving.person_route import CurrentPerson, Person, PersonRoute
from helix.serving.routes.accounts.session import NOT_OWN, Body, own_scopes
from helix.serving.sign_in_guard import SignInGuard
from helix.serving.sse import TextJson

router = APIRouter(prefix="/v1/account", tags=["accounts"], route_class=PersonRoute)
Id = Annotated[int, Path(ge=1, lt=2**63)]


class AccountChange(Body):
    """Changes of one's own account; a new password needs the old one."""

    name: str | None = Field(None, max_length=300)
    password: str | None = Field(None, max_length=LONGEST)
    old_password: str | None = Field(None, max_length=LONGEST)


class NewToken(Body):
    """A token to make: it can do no more than its person, whatever its scopes."""

    name: str = Field("", max_length=300)
    scopes: list[str] = Field(max_length=10)
    days: int | None = Field(None, ge=1, le=3650)


@router.patch("", summary="Change one's name or password")
async def change(request: Request, person: CurrentPerson, to: AccountChange) -> dict[str, Any]:
    """A new password ends all other sessions of the account."""
    if to.name is None and to.password is None:
        raise BadRequest("nothing to change: send name or password")
    name = None if to.name is None else checked_name(to.name)  # or the password alone is changed
    if to.password is not None:
        await _change_password(request, person, to.password, to.old_password or "")
    if name is not None:
        await person.change(partial(set_name, person_id=person.session.person_id, name=name))
    what = "password" if to.password is not None else "name"
    person.caller.changed(f"person {person.session.person_id}; {what}")
    return {}


async def _change_password(request: Request, person: Person, new: str, old: str) -> None:
    guard: SignInGuard = request.state.sign_ins
    email, person_id = person.session.email, person.session.person_id
    guard.check(address_of(request.scope), email)

    def run() -> bool:
        with person.caller.services.store.connection() as connection, connection.transaction():
            if person_of_password(connection, email, old) != person_id:
                return False
            set_password(connection, person_id, new)
            revoke_sessions(connection, person_id, but=person.session.id)
            return True

    if not await guard.run(run):
        request.state.refused_for = "password"
        raise HTTPException(403, NOT_OWN)


@router.get("/sessions", summary="Browsers that one is signed in with")
async def sessions(person: CurrentPerson) -> JSONResponse:
    """The last used first; `current`: the one that asks."""
    idle = timedelta(hours=person.caller.services.settings.session_idle_hours)
    found = await person.change(
        partial(list_sessions, person_id=person.session.person_id, idle=idle)
    )
    listed = [{**_plain(each), "current": each.id == person.session.id} for each in found]
    return TextJson({"sessions": listed})


@router.delete("/sessions/{session_id}", summary="Sign out of another browser")
async def end(person: CurrentPerson, session_id: Id) -> dict[str, Any]:
    """Its next request is nobody's."""
    whose = person.session.person_id
    if not await person.change(partial(revoke_session, person_id=whose, session_id=session_id)):
        raise NotFound("there is no such session")
    return {}


@router.get("/tokens", summary="One's personal access tokens to this tenant")
async def tokens(person: CurrentPerson) -> JSONResponse:
    """Each with its beginning; the rest of it nobody knows."""
    found = await person.change(partial(
        list_tokens, tenant=person.session.tenant, person_id=person.session.person_id
    ))  # fmt: skip
    return TextJson({"tokens": [_plain(each) for each in found]})


@router.post("/tokens", summary="Make a personal access token", status_code=201)
async def make_token(person: CurrentPerson, wanted: NewToken) -> JSONResponse:
    """`token` is told this once. At each use its scopes are cut to the role that one has then."""
    scopes = checked_scopes(wanted.scopes)
    if beyond := set(scopes) - own_scopes(person.session):
        raise ScopeMissing(f"your role has not the scope {min(beyond)}: leave it out")
    life = None if wanted.days is None else timedelta(days=wanted.days)
    session = person.session

    def make(connection: Connected) -> tuple[int, str]:
        return create_key(
            connection, session.tenant, wanted.name, scopes, life, person_id=session.person_id
        )

    key_id, secret = await person.change(make)
    person.caller.changed(f"key {key_id}")
    return JSONResponse({"id": key_id, "token": secret}, status_code=201)


@router.delete("/tokens/{key_id}", summary="Revoke a personal access token")
async def revoke(person: CurrentPerson, key_id: Id) -> dict[str, Any]:
    """It opens nothing from now on."""
    whose = person.session.person_id
    if not await person.change(partial(
        revoke_token, tenant=person.session.tenant, person_id=whose, key_id=key_id
    )):  # fmt: skip
        raise NotFound("there is no such token")
    return {}


def _plain(row: Any) -> dict[str, Any]:
    """A row as JSON has it: times as text."""
    return {
        name: value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in asdict(row).items()
    }
