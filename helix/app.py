"""The HTTP application: ``create_app(settings)``; ``app`` for ``uvicorn helix.app:app``."""

from __future__ import annotations

import asyncio
import logging
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
from helix.errors import HelixError
from helix.garbage import settle
from helix.logs import configure_logging, silence_access_log
from helix.providers.base import Embedder, LanguageModel
from helix.routes import ask, documents, health, query, runs
from helix.routes.state import State
from helix.services import Services, open_services
from helix.settings import Settings, load_settings
from helix.store import ChunkStore

_OPEN_RUN = "SELECT FROM runs WHERE status IN ('queued', 'running', 'cancelling') LIMIT 1"

_LOOK_SECONDS, _LONGEST_SECONDS = 5.0, 120.0

_logger = logging.getLogger(__name__)


def create_app(
    settings: Settings, *, embedder: Embedder | None = None, llm: LanguageModel | None = None
) -> FastAPI:
    """The application of ``settings``; it opens database and models when it starts.

    ``embedder`` and ``llm`` stand in for the ones that the settings name.
    """
    configure_logging(settings.log_level)
    silence_access_log()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with open_services(settings, embedder, llm) as services:
            settle()
            keeping = asyncio.create_task(_keep_workers(services))
            try:
                yield {"services": services}
            finally:
                keeping.cancel()

    application = FastAPI(
        title="Helix",
        version=__version__,
        summary="Answers from your documents, each citation resolving, or one honest refusal.",
        lifespan=lifespan,
    )
    application.include_router(health.router)
    application.include_router(ask.router)
    application.include_router(query.router)
    application.include_router(documents.router)
    application.include_router(runs.router)
    _register_errors(application)
    if settings.cors_origins:
        application.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID", "traceparent"],
            expose_headers=["X-Answer-Id", "X-Trace-Id"],
        )
    application.add_middleware(OwnPagesOnly, origins=settings.cors_origins)
    application.add_middleware(RequestLog)
    application.add_middleware(OneLineStartup)
    return application


async def _keep_workers(services: Services) -> None:
    """See that somebody carries out what is to be done, whoever was killed over it."""
    wait = _LOOK_SECONDS
    while True:
        try:
            if await asyncio.to_thread(_any_open, services.store):
                started = services.on_run_created()
                # one that ends at once, for a setting of its own say, is not started all the time
                wait = min(wait * 2, _LONGEST_SECONDS) if started else _LOOK_SECONDS
        except HelixError:  # the database is away; so is the work
            wait = _LOOK_SECONDS
        await asyncio.sleep(wait)


def _any_open(store: ChunkStore) -> bool:
    """Whether any tenant has a run that has not ended."""
    with store.connection() as connection:
        return connection.execute(_OPEN_RUN).fetchone() is not None


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
