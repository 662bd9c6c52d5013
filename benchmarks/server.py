"""One server of the serving benchmark, in a process of its own: ``python -m benchmarks.server``.

Its one argument is JSON. With a ``database_url`` it is Helix's real application over that
database with known models; without, the floor: a bare Starlette route that streams the same
frames. It listens on a free loopback port, which it prints. Both run under uvicorn as
installed; where places for answers are given, with the limits that ``helix serve`` has.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from benchmarks.known_models import TimedStore, deltas, known_models
from helix.app import create_app
from helix.overload.connections import LimitedConnection, allow_descriptors
from helix.services import lifespan
from helix.serving.network.sockets import accepting
from helix.settings import load_settings

_CITATIONS = (
    'event: citations\ndata: [{"n":1,"chunk_id":1,"document_title":"Papers from 0","snippet":"'
    + "A snippet is of 160 characters at most." * 4
    + '"}]\n\n'
)


def bare() -> Starlette:
    """The floor: no database, no model, no framework; frames by f-string."""

    async def frames(tag: str) -> AsyncIterator[bytes]:
        yield f'data: {{"t":"{tag} 1 0.000000\\n"}}\n\n'.encode()
        for delta in deltas(tag):
            yield f'data: {{"t":"{delta}"}}\n\n'.encode()
        yield _CITATIONS.encode()

    async def ask(request: Request) -> StreamingResponse:
        tag = request.query_params["q"].split()[0]
        return StreamingResponse(frames(tag), media_type="text/event-stream")

    return Starlette(routes=[Route("/ask", ask)])


def helix(given: dict[str, Any]) -> ASGIApp:
    """The real application; only its models and the clock around its search are the benchmark's.

    Without vectors the models are the offline ones, and no rate is limited.
    """
    limits: dict[str, Any] = {
        name: given[name] for name in ("answers", "answers_waiting") if name in given
    }
    if "vectors" not in given:
        limits = {"key_requests": 0, "tenant_requests": 0, "address_requests": 0}
    settings = load_settings(
        database_url=given["database_url"], llm="offline", embedder="offline", **limits
    )
    if "vectors" not in given:
        return create_app(settings)
    vars(lifespan)["TenantStore"] = TimedStore
    vectors = np.load(given["vectors"]).tolist()
    embedder, llm = known_models(vectors, given["embed_seconds"], given["model_seconds"])
    return create_app(settings, embedder=embedder, llm=llm)


@contextmanager
def in_thread(application: ASGIApp) -> Iterator[str]:
    """The application's address, served on loopback in a thread of this process."""
    running = uvicorn.Server(uvicorn.Config(application, port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        threading.Event().wait(0.02)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join(timeout=30)


def main() -> None:
    """Serve until SIGTERM."""
    given = json.loads(sys.argv[1])
    application = helix(given) if "database_url" in given else bare()
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listener.getsockname()[1], flush=True)
    allow_descriptors()
    protocol = LimitedConnection if "answers" in given else "auto"
    config = uvicorn.Config(application, log_level="warning", http=protocol)
    uvicorn.Server(config).run(sockets=accepting([listener]))


if __name__ == "__main__":
    main()
