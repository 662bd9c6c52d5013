"""POST /mcp: the Model Context Protocol over streamable HTTP, without sessions.

The SDK is imported, and its manager started, by the first request: importing it would make every
server start slower. The manager runs in a task of its own, for it must end where it began.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from fastapi import HTTPException, Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from helix.answering.answer import Answer
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import BadRequest, UpstreamError
from helix.library.keys import KEY_SCOPES, KeyAccess, access_of_key
from helix.library.people.claims import access_of_identity
from helix.overload.entry import asker, place_for
from helix.overload.limits import MEGABYTE, address_of, limit_body
from helix.protocols.mcp_visitor import Visitor, Work, visitor
from helix.services import Services
from helix.serving.access_recorder import AccessRecorder
from helix.serving.addresses import base_of
from helix.serving.authentication import asked_space
from helix.serving.caller import Caller, meter_request
from helix.serving.disconnects import run_unless_disconnected
from helix.serving.openid import OpenIdProvider
from helix.serving.person_route import as_owner

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


async def access_of_bearer(
    services: Services, providers: Mapping[str, OpenIdProvider], resource: str, token: str
) -> KeyAccess | None:
    """The access that ``token`` gives; None: it gives none.

    A provider's is a JWT that was made for ``resource``, the address of /mcp (RFC 8707), of
    somebody who signed in here with it before.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    if opened := await access_of_key(services.store, token):
        return opened
    for provider in providers.values() if services.settings.auth == "accounts" else ():
        try:
            subject = await provider.subject_of(token, resource)
        except UpstreamError:
            continue
        if subject is not None:
            given = provider.given
            return await as_owner(services, partial(
                access_of_identity, issuer=given.issuer, subject=subject, tenant=given.tenant
            ))  # fmt: skip
    return None


PATH = "/mcp"
METADATA_PATH = f"/.well-known/oauth-protected-resource{PATH}"
_MOST_BYTES = 2 * MEGABYTE


class McpEndpoint:
    """The endpoint of one server, for one event loop; it ends with its block."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._manager: StreamableHTTPSessionManager | None = None
        self._starting = asyncio.Lock()
        self._ended = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        if self._running:
            await self._running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; where keys are asked for its bearer token says whose it is."""
        request = Request(scope, receive)
        asker(request).check_rate()
        sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if request.method == "POST" and sent != "application/json":
            raise HTTPException(415, "the body is JSON: send Content-Type: application/json")
        manager = await self._started()
        if self._services.settings.auth == "off":
            await self._answer(manager, self._anybody(request), scope, receive, send)
            return
        from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
        from mcp.server.auth.middleware.bearer_auth import (
            AuthenticatedUser,
            BearerAuthBackend,
            RequireAuthMiddleware,
        )
        from pydantic import AnyHttpUrl
        from starlette.middleware.authentication import AuthenticationMiddleware

        from helix.protocols.mcp_server import KeyVerifier

        async def opened(scope: Scope, receive: Receive, send: Send) -> None:
            user: AuthenticatedUser = scope["user"]
            token = user.access_token
            caller = self._holder(request, token.claims or {}, partial(access, token.token))
            await self._answer(manager, (caller, frozenset(user.scopes)), scope, receive, send)

        base = base_of(request, self._services.settings)
        access = partial(access_of_bearer, self._services, request.state.providers, f"{base}{PATH}")
        guarded = RequireAuthMiddleware(opened, [], AnyHttpUrl(f"{base}{METADATA_PATH}"))
        backend = BearerAuthBackend(KeyVerifier(access))
        chain = AuthenticationMiddleware(AuthContextMiddleware(guarded), backend=backend)
        await chain(scope, receive, send)

    def _anybody(self, request: Request) -> tuple[Caller, frozenset[str]]:
        named = request.query_params.getlist("tenant_id")
        if len(set(named)) > 1:
            raise BadRequest("tenant_id is given twice, and not the same")
        caller = Caller(self._services, DEFAULT_TENANT, keyed=False, state=request.state)
        request.state.caller = caller
        return caller.for_tenant(named[0] if named else None), frozenset(KEY_SCOPES)

    def _holder(
        self,
        request: Request,
        claims: dict[str, Any],
        look: Callable[[], Awaitable[KeyAccess | None]],
    ) -> Caller:
        tenant, key_id = claims["tenant_id"], claims["key_id"]

        async def renewed() -> Caller | None:
            now = await look()
            return None if now is None else replace(caller, tenant=now.tenant, spaces=now.spaces)

        caller = Caller(
            self._services, tenant, keyed=True, key_id=key_id, state=request.state,
            person_id=claims["person_id"], spaces=claims["spaces"], renewed=renewed,
            limits=claims["limits"],
        )  # fmt: skip
        request.state.caller = caller
        recorder: AccessRecorder = request.state.recorder
        recorder.record_key_use(key_id, tenant, address_of(request.scope))
        for named in request.query_params.getlist("tenant_id"):
            caller.for_tenant(named)
        return caller

    async def _answer(
        self,
        manager: StreamableHTTPSessionManager,
        who: tuple[Caller, frozenset[str]],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Have the SDK answer on behalf of ``who``; a client that leaves ends what it asked for."""
        caller, scopes = who
        caller = await caller.in_space(asked_space(Request(scope)))
        too_long = HTTPException(413, "the body is larger than 2 MB, the limit")
        request = limit_body(Request(scope, receive), _MOST_BYTES, too_long)
        asker(request).check_rate("key", "tenant")
        meter_request(request, caller)
        body = await request.body()

        async def admit(work: Work) -> Answer:
            with place_for(request) as place:
                return await place.run(work)

        visitor.set(Visitor(
            caller.library, self._services.answering, base_of(request, self._services.settings),
            self._services.settings.max_question_chars, scopes, admit, caller.right,
        ))  # fmt: skip
        work = manager.handle_request(scope, _replayed(body), send)
        await run_unless_disconnected(request, work)

    async def _started(self) -> StreamableHTTPSessionManager:
        async with self._starting:
            if self._manager is None:
                await asyncio.to_thread(importlib.import_module, "helix.protocols.mcp_server")
                ready: asyncio.Future[StreamableHTTPSessionManager] = asyncio.Future()
                self._running = asyncio.create_task(self._run(ready))
                either: set[asyncio.Future[Any]] = {ready, self._running}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if not ready.done():
                    self._running.result()  # raises what kept it from starting
                self._manager = ready.result()
            return self._manager

    async def _run(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        from mcp.server.transport_security import TransportSecuritySettings

        from helix.protocols.mcp_server import build_server

        server = build_server()
        # Left to itself, the SDK would answer to loopback names alone: hosts and origins are looked
        # at before (helix/serving/network/origins.py). The call makes the manager.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=True, transport_security=security)
        async with server.session_manager.run():
            ready.set_result(server.session_manager)
            await self._ended.wait()


def _replayed(body: bytes) -> Receive:
    """A body that was read already; whoever asks again waits until it is cancelled."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await asyncio.Future()  # run_unless_disconnected watches for the end
        raise AssertionError("unreachable")

    return receive


async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
    """The endpoint of the server that a request came to."""
    endpoint: McpEndpoint = scope["state"]["mcp"]
    await endpoint(scope, receive, send)


async def protected_resource(request: Request) -> JSONResponse:
    """RFC 9728: what a client needs to open /mcp: a key that it was given, or a person's sign-in.

    With HELIX_OIDC the providers are named, at which a client has somebody sign in.
    """
    services: Services = request.state.services
    if services.settings.auth == "off":
        raise HTTPException(404, "no key is needed here")
    signs_in = services.settings.oidc if services.settings.auth == "accounts" else ()
    return JSONResponse({
        "resource": f"{base_of(request, services.settings)}{PATH}",
        "resource_name": "Helix",
        **({"authorization_servers": [each.issuer for each in signs_in]} if signs_in else {}),
        "scopes_supported": ["ask", "read"],
        "bearer_methods_supported": ["header"],
    })  # fmt: skip
