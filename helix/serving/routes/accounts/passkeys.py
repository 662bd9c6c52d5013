"""Passkeys: signing in with one, and those of one's own account.

Each ceremony has two requests: one for a challenge, and one with what the authenticator signed. A
cookie binds both to the browser.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from helix.errors import NotFound
from helix.library.access import Connected
from helix.library.people.browser_sessions import SignIn
from helix.library.people.passkey_ceremonies import (
    LIFE,
    PasskeyRefused,
    RelyingParty,
    add_passkey,
    ask_to_add,
    ask_to_sign_in,
    person_of_passkey,
    relying_party,
    take_challenge,
)
from helix.library.people.passkeys import list_passkeys, remove_passkey, rename_passkey
from helix.library.people.passwords import LONGEST, person_of_password
from helix.library.people.persons import find_person
from helix.library.people.tokens import hash_of, new_secret
from helix.overload.limits import address_of
from helix.serving.addresses import base_of
from helix.serving.person_route import CurrentPerson, Person, PersonRoute, as_owner
from helix.serving.routes.accounts.session import NOT_OWN, Body, Tenant, has_passkeys, signed_in
from helix.serving.session_cookie import cookie_name, set_cookie
from helix.serving.sign_in_guard import SignInGuard
from helix.serving.sse import TextJson

router = APIRouter(prefix="/v1", tags=["accounts"], route_class=PersonRoute)
Id = Annotated[int, Path(ge=1, lt=2**63)]
_COOKIE = "helix_passkey"
_NONE = "there is no such passkey"


class Shown(Body):
    """A credential, as `toJSON()` of a browser's `PublicKeyCredential` has it."""

    credential: dict[str, Any]


class SignInShown(Shown):
    """A credential to sign in with; ``tenant``: of several the one to begin with."""

    tenant: Tenant = None


class Name(Body):
    """The name of a passkey: the device, as a rule."""

    name: str = Field(max_length=300)


class NewPasskey(Shown, Name):
    """A passkey that the browser made."""


class Password(Body):
    """The password of one's account."""

    password: str = Field(max_length=LONGEST)


@router.post("/session/passkey/challenge", summary="Begin to sign in with a passkey")
async def begin(request: Request) -> JSONResponse:
    """`options` for `navigator.credentials.get`, good once, in this browser, for ten minutes."""
    party, browser = _party(request), _browser(request)
    guard: SignInGuard = request.state.sign_ins
    guard.check_challenge(address_of(request.scope))
    asked = partial(ask_to_sign_in, party=party, browser=browser)
    return _answer(request, browser, await as_owner(request.state.services, asked))


@router.post(
    "/session/passkey", summary="Sign in with a passkey",
    responses={401: {"description": "The passkey opens no account here"}},
)  # fmt: skip
async def sign_in(request: Request, shown: SignInShown) -> JSONResponse:
    """Sets the cookie of a new session, as `POST /v1/session` does.

    `429` after too many tries from the address, in a quarter of an hour.
    """
    party, services = _party(request), request.state.services
    guard: SignInGuard = request.state.sign_ins
    guard.check(address_of(request.scope))
    taken = await as_owner(
        services, partial(take_challenge, credential=shown.credential, browser=_browser(request))
    )
    try:
        person_id = await as_owner(services, partial(
            person_of_passkey, party=party, taken=taken, credential=shown.credential
        ))  # fmt: skip
    except PasskeyRefused:
        request.state.refused_for = "passkey"
        raise
    return await signed_in(request, person_id, SignIn("passkey"), shown.tenant)


@router.get("/account/passkeys", summary="One's passkeys")
async def passkeys(request: Request, person: CurrentPerson) -> JSONResponse:
    """In the order that they were added in. `available`: one can be added here.

    That needs a password: whom a provider signs in, the provider may lock out.
    """

    def read(connection: Connected) -> dict[str, Any]:
        found = list_passkeys(connection, person.session.person_id)
        account = find_person(connection, person.session.email)
        adds = account is not None and account.has_password and has_passkeys(request)
        return {"available": adds, "passkeys": [
            {"id": each.id, "name": each.name, "created_at": each.created_at.isoformat(),
             "used_at": each.used_at.isoformat() if each.used_at else None}
            for each in found
        ]}  # fmt: skip

    return TextJson(await person.change(read))


@router.post("/account/passkeys/challenge", summary="Begin to add a passkey")
async def begin_to_add(request: Request, person: CurrentPerson, given: Password) -> JSONResponse:
    """`options` for `navigator.credentials.create`; `403` where the password is another."""
    party, browser = _party(request), _browser(request)
    guard: SignInGuard = request.state.sign_ins
    guard.check(address_of(request.scope), person.session.email)
    options = await guard.run(partial(_asked, person, given.password, party, browser))
    if options is None:
        request.state.refused_for = "password"
        raise HTTPException(403, NOT_OWN)
    return _answer(request, browser, options)


def _asked(
    person: Person, password: str, party: RelyingParty, browser: str
) -> dict[str, Any] | None:
    """The options for the person, if the password is theirs."""
    email = person.session.email
    with person.caller.services.store.connection() as connection, connection.transaction():
        account = find_person(connection, email)
        if account is None or person_of_password(connection, email, password) != account.id:
            return None
        return ask_to_add(connection, party, browser, account)


@router.post("/account/passkeys", summary="Add a passkey", status_code=201)
async def add(request: Request, person: CurrentPerson, new: NewPasskey) -> JSONResponse:
    """The one that the browser made of the challenge's options."""
    party, whose = _party(request), person.session.person_id
    taken = await person.change(partial(
        take_challenge, credential=new.credential, browser=_browser(request), person_id=whose
    ))  # fmt: skip
    number = await person.change(partial(
        add_passkey, party=party, taken=taken, person_id=whose, name=new.name,
        credential=new.credential,
    ))  # fmt: skip
    person.caller.changed(f"passkey {number}")
    return JSONResponse({"id": number}, 201)


@router.patch("/account/passkeys/{passkey_id}", summary="Rename a passkey")
async def rename(person: CurrentPerson, passkey_id: Id, to: Name) -> dict[str, Any]:
    """One of one's own."""
    whose = person.session.person_id
    if not await person.change(partial(
        rename_passkey, person_id=whose, passkey_id=passkey_id, name=to.name
    )):  # fmt: skip
        raise NotFound(_NONE)
    return {}


@router.delete("/account/passkeys/{passkey_id}", summary="Remove a passkey")
async def remove(person: CurrentPerson, passkey_id: Id) -> dict[str, Any]:
    """It opens nothing from now on; sessions that it began go on."""
    whose = person.session.person_id
    if not await person.change(partial(remove_passkey, person_id=whose, passkey_id=passkey_id)):
        raise NotFound(_NONE)
    return {}


def _party(request: Request) -> RelyingParty:
    """The server at its public address; raises NoPasskeys."""
    return relying_party(base_of(request, request.state.services.settings))


def _browser(request: Request) -> str:
    """The secret of the browser's cookie, or a new one: challenges of several tabs are its own."""
    settings = request.state.services.settings
    known = request.cookies.get(cookie_name(request, settings, _COOKIE), "")
    return known if hash_of(known) else new_secret()


def _answer(request: Request, browser: str, options: dict[str, Any]) -> JSONResponse:
    response = JSONResponse({"options": options})
    settings = request.state.services.settings
    set_cookie(response, request, settings, browser, _COOKIE, int(LIFE.total_seconds()))
    return response
