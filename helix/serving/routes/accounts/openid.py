"""/v1/sign-in/{provider}: to a provider of OpenID Connect, and back.

A cookie keeps what the browser has to bring back: state, nonce and PKCE's verifier, of which the
address has none but the state. So a code or an answer that was made for another browser opens
nothing here.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from helix.domain.scope import DEFAULT_TENANT
from helix.errors import HelixError, NotFound, UpstreamError
from helix.library.access import Connected
from helix.library.audit import Event
from helix.library.people.browser_sessions import SignIn
from helix.library.people.claims import Claims, person_of_claims
from helix.library.people.invitations import SIGN_IN_PAGE
from helix.overload.limits import address_of
from helix.services import Services
from helix.serving.access_recorder import AccessRecorder
from helix.serving.addresses import base_of
from helix.serving.openid import NotAuthenticated, OpenIdProvider
from helix.serving.person_route import PersonRoute, as_owner
from helix.serving.routes.accounts.session import open_session
from helix.serving.session_cookie import cookie_name, set_cookie, told_by_proxy
from helix.settings import PROXY

router = APIRouter(prefix="/v1/sign-in", tags=["accounts"], route_class=PersonRoute)

_logger = logging.getLogger(__name__)
_COOKIE = "helix_sign_in"
_SECONDS = 600
_PROBLEM = f"{SIGN_IN_PAGE}?problem=provider"
_ACTION = "GET /v1/sign-in/{provider}"
Rights = tuple[str, str | None]
"""A tenant, and the role there of people who have no account yet; None: they get none."""
PROXY_RIGHTS: Rights = (DEFAULT_TENANT, None)
_PATH = re.compile(r"/(?![/\\])[^\x00-\x20\\\x7f]{0,2000}")


def path_of_ours(text: str) -> str:
    """``text`` if it is a path of this server, with what may follow one; else the page."""
    return text if _PATH.fullmatch(text) else "/"


def _provider(request: Request, name: str) -> OpenIdProvider:
    providers: dict[str, OpenIdProvider] = request.state.providers
    if name not in providers:
        raise NotFound("there is no such provider: GET /v1/sign-in lists them")
    return providers[name]


def _callback(request: Request, name: str) -> str:
    services: Services = request.state.services
    return f"{base_of(request, services.settings)}/v1/sign-in/{name}/callback"


@router.get("/proxy", summary="Sign in as whoever signed in at the proxy", status_code=303)
async def by_proxy(request: Request, next: str = "/") -> Response:  # noqa: A002
    """Believes the header of a proxy of HELIX_PROXY_ADDRESSES, and nobody else's."""
    settings = request.state.services.settings
    try:
        email = told_by_proxy(request, settings)
        if email is None:
            raise NotAuthenticated("no proxy that is believed says who this is")
        secret = await _session(request, Claims(PROXY, email, email), PROXY, PROXY_RIGHTS)
    except HelixError as error:
        return _refused(request, PROXY, error)
    response = RedirectResponse(path_of_ours(next), 303)
    set_cookie(response, request, settings, secret)
    return response


@router.get("/{provider}", summary="Sign in with a provider", status_code=303)
async def begin(request: Request, provider: str, next: str = "/") -> Response:  # noqa: A002
    """Leads the browser to the provider; `next` is a path of this server, for afterwards."""
    services: Services = request.state.services
    try:
        started = await _provider(request, provider).start(_callback(request, provider))
    except UpstreamError as error:
        _logger.warning("nobody can sign in with %s: %s", provider, error)
        return RedirectResponse(_PROBLEM, 303)
    kept = {**asdict(started), "provider": provider, "next": path_of_ours(next)}
    kept.pop("url")
    response = RedirectResponse(started.url, 303)
    value = urlsafe_b64encode(json.dumps(kept).encode()).decode()
    set_cookie(response, request, services.settings, value, _COOKIE, _SECONDS)
    return response


@router.get("/{provider}/callback", summary="Back from a provider", status_code=303)
async def back(
    request: Request,
    provider: str,
    state: str = "",
    code: str = "",
    iss: Annotated[str | None, Query()] = None,
) -> Response:
    """Begins a session and leads to where the browser wanted to go, else to signing in."""
    services: Services = request.state.services
    settings = services.settings
    try:
        secret, place = await _finished(request, provider, state, code, iss)
        response: Response = RedirectResponse(place, 303)
        set_cookie(response, request, settings, secret)
    except HelixError as error:
        response = _refused(request, provider, error)
    set_cookie(response, request, settings, "", _COOKIE, 0)  # a sign-in is finished once
    return response


async def _finished(
    request: Request, name: str, state: str, code: str, iss: str | None
) -> tuple[str, str]:
    """The secret of a new session, and the path that the browser wanted."""
    provider, kept = _provider(request, name), _kept(request)
    same_state = secrets.compare_digest(state.encode(), str(kept.get("state", "")).encode())
    if not (state and code and same_state) or kept.get("provider") != name:
        raise NotAuthenticated("this answer is not of a sign-in that this browser began")
    if iss is not None and iss != provider.given.issuer:  # RFC 9207: another provider's answer
        raise NotAuthenticated("this answer is another issuer's")
    claims, id_token = await provider.finish(
        _callback(request, name), code, str(kept["nonce"]), str(kept["verifier"])
    )
    rights = (provider.given.tenant, provider.given.role)
    secret = await _session(request, claims, name, rights, id_token)
    return secret, path_of_ours(str(kept.get("next", "/")))


async def _session(
    request: Request, claims: Claims, name: str, rights: Rights, id_token: str = ""
) -> str:
    """The secret of a new session of whoever the claims are about."""
    tenant, role = rights

    def find(connection: Connected) -> int:
        return person_of_claims(connection, claims, tenant, role)

    person_id = await as_owner(request.state.services, find)
    how = SignIn(claims.issuer, id_token=id_token)
    secret = await open_session(request, person_id, how)
    _record(request, Event(
        "write", _ACTION, address=address_of(request.scope), object=f"{name}; person {person_id}",
        status=303, person_id=person_id,
    ))  # fmt: skip
    return secret


def _refused(request: Request, name: str, error: HelixError) -> Response:
    _record(request, Event(
        "refusal", _ACTION, address=address_of(request.scope),
        object=f"{name}; {type(error).__name__}", status=error.status,
    ))  # fmt: skip
    return RedirectResponse(_PROBLEM, 303)


def _kept(request: Request) -> dict[str, Any]:
    settings = request.state.services.settings
    value = request.cookies.get(cookie_name(request, settings, _COOKIE), "")
    try:
        read = json.loads(urlsafe_b64decode(value))
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _record(request: Request, event: Event) -> None:
    recorder: AccessRecorder = request.state.recorder
    recorder.record(event)
