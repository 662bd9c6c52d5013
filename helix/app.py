"""The HTTP application: ``create_app(settings)``; ``app`` for ``uvicorn helix.app:app``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from helix import __version__
from helix.errors import HelixError
from helix.library.privacy.counter import process_counter
from helix.providers.base import Embedder, LanguageModel
from helix.services import open_services
from helix.serving.audit_trail import AuditTrail
from helix.serving.error_handlers import add_error_handlers
from helix.serving.lifespan import serving
from helix.serving.middleware import OneLineStartup, RequestLog
from helix.serving.network.origins import KnownHosts, OwnPagesOnly
from helix.serving.network.security_headers import SecurityHeaders
from helix.serving.routes import (
    about,
    ask,
    ask_image,
    attachment_pages,
    attachments,
    batches,
    conversation_images,
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
    search,
    study,
    study_files,
    study_learning,
    suggestions,
    tenant_settings,
    transcribe,
    ui_chat,
    uploads,
    web,
    web_imports,
)
from helix.settings import Settings, load_settings
from helix.telemetry.build_info import build_tracing
from helix.telemetry.logs import configure_logging, silence_access_log
from helix.telemetry.metrics import Metrics
from helix.telemetry.tracing import Tracing

_ROUTERS = (
    operations.open_router, ask.router, query.router, ask_image.router, receipts.router,
    uploads.router, web_imports.router, batches.router, library.router, documents.router,
    pages.router, runs.router, search.router, suggestions.router, operations.router, about.router,
    conversations.router, messages.router, attachments.router, attachment_pages.router,
    conversation_images.router,
    openai.router, ui_chat.router, prompts.router,
    study_learning.router, study_files.form_router, study_files.router, study.router,
    progress.router, tenant_settings.router, transcribe.router,
)  # fmt: skip
_CORS_REQUEST_HEADERS = (
    "Authorization", "Content-Type", "Last-Event-ID", "traceparent", "Mcp-Protocol-Version",
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
    metrics, tracing = Metrics(), build_tracing(settings.tracing)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        async with (
            aclosing(tracing),
            open_services(settings, embedder, llm, metrics=metrics) as services,
            serving(services) as state,
        ):
            yield state

    application = FastAPI(
        title="Helix",
        version=__version__,
        summary="Answers from your documents, each citation resolving, or one honest refusal.",
        lifespan=lifespan,
        openapi_url=None,  # open to everybody, as FastAPI has it; routes/web.py has our own
        docs_url=None,
        redoc_url=None,
    )
    _add_routes(application, settings)
    add_error_handlers(application)
    _add_middleware(application, settings, metrics, tracing)
    return application


def _add_routes(application: FastAPI, settings: Settings) -> None:
    for router in _ROUTERS:
        application.include_router(router)
    application.routes.extend([*mcp.routes, *web.routes(settings)])


def _add_middleware(
    application: FastAPI, settings: Settings, metrics: Metrics, tracing: Tracing
) -> None:
    """The innermost first: a request passes through them from the last to the first."""
    if settings.cors_origins:
        application.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=_CORS_REQUEST_HEADERS,
            expose_headers=["X-Answer-Id", "X-Trace-Id"],
        )
    application.add_middleware(OwnPagesOnly, origins=settings.cors_origins)
    application.add_middleware(KnownHosts, hosts=settings.hosts, any_host=settings.auth == "keys")
    application.add_middleware(SecurityHeaders)
    application.add_middleware(AuditTrail)
    application.add_middleware(RequestLog, metrics=metrics, tracer=tracing.tracer)
    application.add_middleware(OneLineStartup)


def __getattr__(name: str) -> Any:
    """``app``, made when uvicorn asks for it, so that importing this module reads no setting."""
    if name != "app":
        raise AttributeError(name)
    try:
        return create_app(load_settings())
    except HelixError as error:
        raise SystemExit(f"helix: {error}") from None
