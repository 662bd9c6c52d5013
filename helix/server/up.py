"""``helix up``: settings, schema, samples, server and browser in one command."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from helix.commands.first_run import open_in_browser, prepared, settings_of_first_run
from helix.server.serve import Host, Port, address_of, serve_on
from helix.serving.network.listening import check_address
from helix.serving.network.sockets import bind


def up(
    host: Host = "127.0.0.1",
    port: Port = 8080,
    samples: Annotated[
        bool | None,
        typer.Option(
            "--samples/--no-samples",
            help="Bring in the sample documents where the library is empty; asked if left out.",
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Start everything: settings, schema, samples if wanted, server, browser.

    Without any settings it takes the bundled Postgres and answers offline, and keeps that choice
    in the user's own settings file, which every other command reads too.
    """
    settings = settings_of_first_run()
    check_address(host, settings)
    sockets = bind(host, port)
    address = address_of(host, sockets)
    with prepared(settings, samples):
        serve_on(settings, host, sockets, partial(open_in_browser, address) if browser else None)
