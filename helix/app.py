"""The HTTP application: ``create_app(settings)``; ``app`` for ``uvicorn helix.app:app``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from helix import __version__
from helix.asgi import OneLineStartup, OwnPagesOnly, RequestLog
from helix.bodies import JsonLimit
from helix.errors import HelixError
from helix.garbage import settle
from helix.keeping import kept_up
from helix.logs import configure_logging, silence_access_log
from helix.privacy.counter import process_counter
from helix.providers.base import Embedder, LanguageModel
from helix.routes import (
    answers,
    ask,
    ask_image,
    documents,
    evals,
    health,
    metrics,
    privacy,
    query,
    runs,
    web,
)  # fmt: skip
from helix.routes.state import State
from helix.services import open_services
from helix.settings import Settings, load_settings
from helix.telemetry.metrics import Metrics
from helix.telemetry.tracing import build_tracing, closed_after

_ROUTERS = (
    health, metrics, ask, query, ask_image, answers, documents, runs, evals, privacy, web,
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
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with (
            closed_after(tracing),
            open_services(settings, embedder, llm, metrics=measured) as services,
        ):
            settle()
            async with kept_up(services):
                yield {"services": services}

    application = FastAPI(
        title="Helix",
        version=__version__,
        summary="Answers from your documents, each citation resolving, or one honest refusal.",
        lifespan=lifespan,
    )
    for routes in _ROUTERS:
        application.include_router(routes.router)
    _register_errors(application)
    if settings.cors_origins:
        application.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID", "traceparent"],
            expose_headers=["X-Answer-Id", "X-Trace-Id"],
        )
    application.add_middleware(JsonLimit)
    application.add_middleware(OwnPagesOnly, origins=settings.cors_origins)
    application.add_middleware(RequestLog, metrics=measured, tracing=tracing)
    application.add_middleware(OneLineStartup)
    return application


def _register_errors(application: FastAPI) -> None:
    @application.exception_handler(HelixError)
    async def helix_error(_: Request, error: HelixError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, status_code=error.status)

    @application.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        return JSONResponse({"error": f"{where} is malformed"}, status_code=400)

    @application.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> JSONResponse:
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
