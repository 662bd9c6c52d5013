"""``helix up``: settings, schema, samples, server and browser in one command."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from helix.commands.first_run import (
    open_in_browser,
    prepared,
    settings_of_first_run,
    what_runs,
)
from helix.commands.serve import Host, Port, address_of, serve_on
from helix.serving.network.sockets import bind, check_address


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
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model that answers, as HELIX_LLM names it: server:NAME, local:FILE, gemini.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder of the bundled Postgres: documents, and all of Helix's."
        ),
    ] = None,
    local_server: Annotated[
        bool,
        typer.Option(
            "--use-local-server",
            help="Answer by the Ollama, LM Studio, llama.cpp or vLLM that runs here.",
        ),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Start everything: settings, schema, samples if wanted, server, browser.

    Where the data is: --data DIR; else DATABASE_URL; else a Postgres that Helix brings along, in
    ~/.local/share/helix (root: /var/lib/helix; macOS: ~/Library/Application Support/helix).

    Which model answers: --model NAME; else HELIX_LLM; else Gemini, with GEMINI_API_KEY; else none,
    and answers are quotes.

    What nothing says yet is chosen once and kept in ~/.config/helix/env, which all commands read;
    later --data and --model hold for this server alone. `helix doctor` shows both.
    """
    settings = settings_of_first_run(model, local_server=local_server, data=data)
    check_address(host, settings)
    sockets = bind(host, port)
    address = address_of(host, sockets)
    typer.echo(what_runs(settings), err=True)
    with prepared(settings, samples):
        serve_on(settings, host, sockets, partial(open_in_browser, address) if browser else None)
