"""The HTTP application: ``create_app(settings)``; ``app`` for ``uvicorn helix.app:app``.

It opens the services of the settings (``services/``), takes a request through the middleware to its
route (``serving/``), and closes all again. A question goes on in ``answering/pipeline.py``; a file
becomes a run, whose worker carries out ``pipelines/files/ingestion.py``.
"""

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
from helix.serving.background_tasks import serving
from helix.serving.error_handlers import add_error_handlers
from helix.serving.middleware import AuditTrail, OneLineStartup, RequestLog
from helix.serving.network.origins import KnownHosts, OwnPagesOnly, SecurityHeaders
from helix.serving.route_table import add_routes
from helix.settings import Settings, load_settings
from helix.telemetry.build_info import build_tracing
from helix.telemetry.logs import configure_logging, silence_access_log
from helix.telemetry.metrics import Metrics
from helix.telemetry.tracing import Tracing

_EXPOSED_HEADERS = (
    "X-Answer-Id", "X-Trace-Id", "X-Request-Id", "Retry-After", "Content-Disposition",
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
    add_routes(application, settings)
    add_error_handlers(application)
    _add_middleware(application, settings, metrics, tracing)
    return application


def _add_middleware(
    application: FastAPI, settings: Settings, metrics: Metrics, tracing: Tracing
) -> None:
    """The innermost first: a request passes through them from the last to the first."""
    if settings.cors_origins:
        application.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],  # SDKs send headers of their own, and a cookie never comes along
            expose_headers=_EXPOSED_HEADERS,
        )
    application.add_middleware(OwnPagesOnly, origins=settings.cors_origins)
    application.add_middleware(KnownHosts, hosts=settings.hosts, any_host=settings.auth != "off")
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
