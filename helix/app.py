"""The HTTP application: ``create_app(settings)``; ``app`` for ``uvicorn helix.app:app``."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

from helix import __version__
from helix.errors import HelixError
from helix.library.background import in_background
from helix.privacy.counter import process_counter
from helix.providers.base import Embedder, LanguageModel
from helix.services import open_services
from helix.serving.audit_trail import AuditTrail
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST
from helix.serving.housekeeping import housekeeping
from helix.serving.limits import LimitReached
from helix.serving.mcp_endpoint import McpEndpoint
from helix.serving.middleware import OneLineStartup, RequestLog
from helix.serving.network.origins import KnownHosts, OwnPagesOnly
from helix.serving.network.security_headers import SecurityHeaders
from helix.serving.request_state import request_state
from helix.serving.routes import (
    about,
    ask,
    ask_image,
    attachments,
    batches,
    conversations,
    documents,
    library,
    mcp,
    messages,
    openai,
    operations,
    pages,
    progress,
    prompts,
    query,
    receipts,
    runs,
    study,
    study_files,
    study_learning,
    suggestions,
    transcribe,
    ui_chat,
    uploads,
    web,
    web_imports,
)
from helix.settings import Settings, load_settings
from helix.storage.garbage_collection import settle
from helix.telemetry.build import build_tracing
from helix.telemetry.logs import configure_logging, silence_access_log
from helix.telemetry.metrics import Metrics

_logger = logging.getLogger(__name__)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_ROUTERS = (
    operations.open_router, ask.router, query.router, ask_image.router, receipts.router,
    uploads.router, web_imports.router, batches.router, library.router, documents.router,
    pages.router, runs.router, suggestions.router, operations.router, about.router,
    conversations.router, messages.router, attachments.router, openai.router, ui_chat.router,
    prompts.router,
    study_learning.router, study_files.form_router, study_files.router, study.router,
    progress.router, transcribe.router,
)  # fmt: skip


def create_app(
    settings: Settings, *, embedder: Embedder | None = None, llm: LanguageModel | None = None
) -> FastAPI:
    """The application of ``settings``; it opens database and models when it starts.

    ``embedder`` and ``llm`` stand in for the ones that the settings name.
    """
    configure_logging(settings.log_level, settings.log_format)
    silence_access_log()
    process_counter()  # from the first connection on
    measured, tracing = Metrics(), build_tracing(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        async with (
            aclosing(tracing),
            open_services(settings, embedder, llm, metrics=measured) as services,
        ):
            settle()
            state = request_state(services)
            async with (
                housekeeping(services),
                in_background(state["vitals"].watch()),
                state["books"].kept(services.store),
                McpEndpoint(services) as mcp_endpoint,
            ):
                yield {**state, "mcp": mcp_endpoint}

    application = FastAPI(
        title="Helix",
        version=__version__,
        summary="Answers from your documents, each citation resolving, or one honest refusal.",
        lifespan=lifespan,
        openapi_url=None,  # open to everybody, as FastAPI has it; routes/web.py has our own
        docs_url=None,
        redoc_url=None,
    )
    for router in _ROUTERS:
        application.include_router(router)
    application.routes.extend([*mcp.routes, *web.routes(settings)])
    _register_errors(application)
    if settings.cors_origins:
        application.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Last-Event-ID",
                "traceparent",
                "Mcp-Protocol-Version",
            ],
            expose_headers=["X-Answer-Id", "X-Trace-Id"],
        )
    application.add_middleware(OwnPagesOnly, origins=settings.cors_origins)
    application.add_middleware(KnownHosts, hosts=settings.hosts, any_host=settings.auth == "keys")
    application.add_middleware(SecurityHeaders)
    application.add_middleware(AuditTrail)
    application.add_middleware(RequestLog, metrics=measured, tracer=tracing.tracer)
    application.add_middleware(OneLineStartup)
    return application


def _register_errors(application: FastAPI) -> None:
    @application.exception_handler(HelixError)
    async def helix_error(_: Request, error: HelixError) -> JSONResponse:
        if error.status >= 500:
            _logger.warning("no answer: %s", error)
        # an id of the request that it names may hold anything: a failure is one line all the same
        told = _CONTROLS.sub(" ", str(error))
        return JSONResponse({"error": told}, status_code=error.status)

    @application.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        return JSONResponse({"error": f"{where} is malformed"}, status_code=400)

    @application.exception_handler(ClientDisconnect)
    async def disconnected(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    @application.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error, LimitReached):
            request.state.refused_for = error.setting
        return JSONResponse(
            {"error": error.detail}, status_code=error.status_code, headers=error.headers
        )


def __getattr__(name: str) -> Any:
    """``app``, made when uvicorn asks for it, so that importing this module reads no setting."""
    if name != "app":
        raise AttributeError(name)
    try:
        return create_app(load_settings())
    except HelixError as error:
        raise SystemExit(f"helix: {error}") from None
