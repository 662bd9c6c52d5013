"""``helix serve``: the application on a port, until it is told to end."""

from __future__ import annotations

from typing import Annotated

import typer

from helix.settings import load_settings


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
) -> None:
    """Serve over HTTP until SIGTERM or Ctrl-C; running answers may finish.

    What is uploaded is ingested by HELIX_WORKERS processes, which wait beside it at no cost.
    """
    settings = load_settings()
    import uvicorn

    from helix.app import create_app
    from helix.serving.disconnects import DRAIN_SECONDS
    from helix.serving.network.connection_limits import LimitedConnection, allow_descriptors
    from helix.serving.network.listening import check_address

    check_address(host, settings)
    allow_descriptors()
    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        http=LimitedConnection,
        log_level=settings.log_level,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS + 5,
    )
