"""The caller of a request, known before its body is read: every route of the API is an ApiRoute.

With HELIX_AUTH=off the request names its tenant; with HELIX_AUTH=keys its key does, and has a scope
for each route that it opens (helix/serving/key_scopes.py). With HELIX_AUTH=accounts it may have the
session of a person instead, whose role is a set of scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from fastapi import Depends, HTTPException, Query, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from helix.domain.scope import DEFAULT_TENANT
from helix.errors import BadRequest
from helix.library.access import paced
from helix.library.audit import NOBODY
from helix.library.keys import ROLE_SCOPES, KeyAccess, KeyScope, access_of_key
from helix.library.people.browser_sessions import SessionAccess
from helix.library.people.invitations import SIGN_IN_PAGE
from helix.overload.entry import Overload, asker
from helix.overload.limits import MEGABYTE, address_of, limit_body
from helix.services import Services
from helix.serving.access_recorder import AccessRecorder
from helix.serving.caller import Caller, given_twice, learner_of, meter_request
from helix.serving.key_scopes import IN_SPACES, ScopeMissing, needed_scope, public_part
from helix.serving.session_cookie import secret_of, session_of
from helix.settings import Public

_NO_KEY = "an API key is needed: send Authorization: Bearer hx_…, made with `helix keys create`"
# one line for every such key: it tells nothing about a key that somebody tries
_UNKNOWN_KEY = "this API key is not known, or no longer: `helix keys create` makes another"
_SIGN_IN = "sign in, or send an API key: Authorization: Bearer hx_…"
_CHALLENGE = f'Bearer, Helix-Sign-In page="{SIGN_IN_PAGE}"'
"""Tells the page, which asked without a key, where people sign in."""


async def authenticate(
    request: Request,
    scope: KeyScope | None,
    public: Public | None = None,
    in_spaces: bool = False,
) -> Caller:
    """The caller, by the request's headers and address alone; ``request.state.caller`` too.

    Its key has ``scope``, if one is needed; with ``in_spaces`` an editor of a space does without.
    Where HELIX_PUBLIC has ``public``, a request without a key is nobody's.

    Raises:
        HTTPException: 401, the request has no key that opens anything.
        LimitReached: too many requests came from it.
        ScopeMissing: the key does not open this.
        OtherTenant, BadRequest: as ``for_tenant``, of the tenant in the address.
    """
    services: Services = request.state.services
    asker(request).check_rate()  # before the database is asked whose key it is
    if services.settings.auth == "off":
        caller = Caller(services, DEFAULT_TENANT, keyed=False, state=request.state)
    elif public in services.settings.public and not _shows_anything(request, services):
        caller = Caller(services, NOBODY, keyed=True, state=request.state)
    elif services.settings.auth == "accounts" and "authorization" not in request.headers:
        caller = await _signed_in(request, services, scope, in_spaces)
    else:
        caller = await _key_holder(request, services, scope, in_spaces)
    request.state.caller = caller
    named = request.query_params.getlist("tenant_id")
    if len(set(named)) > 1:
        raise given_twice("tenant_id")
    caller = caller.for_tenant(named[0] if named else None)
    asker(request).check_rate("key", "tenant")
    caller = await caller.in_space(asked_space(request))
    meter_request(request, caller)
    return caller


def asked_space(request: Request) -> str | None:
    """The space that the address names, by its id or name; raises BadRequest where it names two."""
    named = request.query_params.getlist("space")
    if len(set(named)) > 1:
        raise given_twice("space")
    return named[0] if named else None


def _shows_anything(request: Request, services: Services) -> bool:
    signed_in = services.settings.auth == "accounts" and secret_of(request, services.settings)
    return "authorization" in request.headers or bool(signed_in)


async def _signed_in(
    request: Request, services: Services, scope: KeyScope | None, in_spaces: bool
) -> Caller:
    session = await session_of(request, services)
    if session is None:
        raise HTTPException(401, _SIGN_IN, {"WWW-Authenticate": _CHALLENGE})

    async def renewed() -> Caller | None:
        return _as_now(caller, await session_of(request, services))

    caller = Caller(
        services, session.tenant, keyed=True, learner=learner_of(session.person_id),
        person_id=session.person_id, session=session, state=request.state,
        spaces=session.spaces, edits=session.edits, renewed=renewed,
        scopes=ROLE_SCOPES[session.role], limits=session.limits,
    )  # fmt: skip
    request.state.caller = caller
    recorder: AccessRecorder = request.state.recorder
    recorder.record_session_use(session.id)
    if not _opens(scope, ROLE_SCOPES[session.role], in_spaces and session.edits != ()):
        request.state.refused_for = f"scope {scope}"
        raise ScopeMissing(
            f"your role in {session.tenant}, {session.role}, lacks the scope {scope}, which this"
            " needs: an owner can change it"
        )
    return caller


def _as_now(caller: Caller, now: SessionAccess | KeyAccess | None) -> Caller | None:
    """The caller with what is open to it now; None: nothing is any more."""
    if now is None:
        return None
    return replace(caller, tenant=now.tenant, spaces=now.spaces, edits=now.edits)


def _opens(scope: KeyScope | None, scopes: Collection[str], in_spaces: bool) -> bool:
    """True for whoever has the scope, and for an editor of spaces where that is enough."""
    return scope is None or scope in scopes or in_spaces


async def _key_holder(
    request: Request, services: Services, scope: KeyScope | None, in_spaces: bool
) -> Caller:
    token = _bearer_token(request)
    opened = await access_of_key(services.store, token)
    if opened is None:
        raise HTTPException(401, _UNKNOWN_KEY if token else _NO_KEY, {"WWW-Authenticate": "Bearer"})

    async def renewed() -> Caller | None:
        return _as_now(caller, await access_of_key(services.store, token))

    learner = opened.name if opened.person_id is None else learner_of(opened.person_id)
    caller = Caller(services, opened.tenant, keyed=True, key_id=opened.id, learner=learner,
                    person_id=opened.person_id, state=request.state, spaces=opened.spaces,
                    edits=opened.edits, renewed=renewed, scopes=opened.scopes,
                    limits=opened.limits)  # fmt: skip
    request.state.caller = caller  # of a refusal too: the audit log tells whose key it was
    overload: Overload = request.state.overload
    overload.early.knows(request.headers["authorization"].encode("latin-1"), opened.tenant)
    recorder: AccessRecorder = request.state.recorder
    recorder.record_key_use(opened.id, opened.tenant, address_of(request.scope))
    if not _opens(scope, opened.scopes, in_spaces and opened.edits != ()):
        request.state.refused_for = f"scope {scope}"
        raise ScopeMissing(
            f"this API key lacks the scope {scope}, which this needs: `helix keys set` adds it"
        )
    return caller


def _bearer_token(request: Request) -> str:
    """The token of the one Authorization header; empty if there is none, or several headers."""
    headers = request.headers.getlist("authorization")
    scheme, _, token = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


class ApiRoute(APIRoute):
    """A route that authenticates its caller first, and then reads a body of limited length.

    FastAPI reads a JSON body before it calls a dependency; an unknown client could have the server
    read as much as it likes.
    """

    max_body_bytes: ClassVar[int | None] = 2 * MEGABYTE
    """Of the request's body; None where the handler sets a limit, as it does for forms."""
    too_large_status: ClassVar[int] = 413

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind authentication and the limit."""
        handler, limit = super().get_route_handler(), self.max_body_bytes
        scope, public = needed_scope(self.methods or (), self.path), public_part(self.path)
        in_spaces = all((method, self.path) in IN_SPACES for method in self.methods or ())

        async def authenticated(request: Request) -> Response:
            async with paced(request.state.services.settings.auth != "off"):
                await authenticate(request, scope, public, in_spaces)
                if any("\0" in str(value) for value in request.path_params.values()):
                    raise BadRequest("the address holds a null character, which no id has")
                if limit is not None:
                    reason = f"the body is larger than {limit // MEGABYTE} MB, the limit"
                    too_long = HTTPException(self.too_large_status, reason, {"Connection": "close"})
                    request = limit_body(request, limit, too_long)
                return await handler(request)

        return authenticated


class FormRoute(ApiRoute):
    """A route for a form with files, which ``helix.serving.forms`` reads under its own limits."""

    max_body_bytes = None


async def _caller(
    request: Request,
    tenant_id: Annotated[
        str | None, Query(description="Whose documents; where keys are asked for, the key says so")
    ] = None,
    space: Annotated[
        str | None, Query(description="About the documents of this space alone, by its id or name")
    ] = None,
) -> Caller:
    caller: Caller = request.state.caller  # authenticate() has looked at both
    return caller


CurrentCaller = Annotated[Caller, Depends(_caller)]
