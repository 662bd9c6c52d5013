"""Preparation by `helix up`: settings where there are none, the schema, samples."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from db.errors import DatabaseError
from db.url import open_database, place_of, read_env_files, user_file
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import SettingsError, StoreUnavailable
from helix.settings import Settings, load_settings
from helix.storage.statements import upkeep as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected

_NAMED = 5
"""Models of a server that are told."""


def settings_of_first_run(
    model: str | None = None, *, local_server: bool = False, data: Path | None = None
) -> Settings:
    """The settings, with what nothing says yet chosen and kept in the user's file.

    ``data`` is the folder of the bundled Postgres, in place of DATABASE_URL, and ``model`` is to
    answer, in place of HELIX_LLM; where the setting is there already, they hold for this server
    alone. Without ``model``, and where none is set, a model server that answers on this machine
    does where ``local_server`` says so, or the user who is asked; else answers are quotes.

    Raises:
        SettingsError: as load_settings and check_llm do, and nothing is kept; the user's file
            cannot be written, or ``local_server`` finds none.
    """
    from helix.providers.factories import check_llm  # it loads LlamaIndex

    try:
        variables = {**read_env_files(), **os.environ}
    except DatabaseError as error:
        raise SettingsError(str(error)) from None
    decided = {name for name, value in variables.items() if value}
    if decided & {"GEMINI_API_KEY", "HELIX_LLM"}:
        decided |= {"HELIX_LLM", "HELIX_MODEL_SERVER"}
    chosen = _chosen(variables, model, local_server=local_server, decided="HELIX_LLM" in decided)
    if data is not None or "DATABASE_URL" not in decided:
        chosen["DATABASE_URL"] = "embedded" if data is None else f"embedded:{_absolute(data)}"
    settings = load_settings(**{_FIELDS[name]: value for name, value in chosen.items()})
    check_llm(settings)
    if kept := {name: value for name, value in chosen.items() if name not in decided}:
        _save(kept)
    return settings


_FIELDS = {
    "DATABASE_URL": "database_url", "HELIX_LLM": "llm", "HELIX_EMBEDDER": "embedder",
    "HELIX_MODEL_SERVER": "model_server",
}  # fmt: skip


def _absolute(folder: Path) -> Path:
    try:
        return folder.expanduser().absolute()
    except RuntimeError:
        raise SettingsError(f"--data {folder} is the home of an unknown user") from None


def _chosen(
    variables: Mapping[str, str], model: str | None, *, local_server: bool, decided: bool
) -> dict[str, str]:
    """The variables that say which model answers, as far as they are not set already."""
    embeds = variables.get("GEMINI_API_KEY") or variables.get("HELIX_EMBEDDER")
    chosen = {} if embeds else {"HELIX_EMBEDDER": "offline"}
    if model:
        return {**chosen, **_server_of(model, variables), "HELIX_LLM": model}
    if local_server or not decided or variables.get("HELIX_LLM") == "offline":
        chosen |= _from_local_server(wanted=local_server, ask=not decided)
    if not decided:
        chosen.setdefault("HELIX_LLM", "offline")
    return chosen


def _server_of(model: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The address of the local server that lists ``model``, where none is set and one does."""
    if not model.startswith("server:") or variables.get("HELIX_MODEL_SERVER"):
        return {}
    from helix.providers.local_servers import local_servers

    servers = [each for each in local_servers() if model in each.names()]
    return dict(servers[0].variables(model)) if servers else {}


def _from_local_server(*, wanted: bool, ask: bool) -> dict[str, str]:
    """Settings that use a model server of this machine: where it is ``wanted``, or a user who is
    asked agrees.

    Raises:
        SettingsError: it is wanted, and there is none.
    """
    from helix.providers.local_servers import USUAL, local_servers

    servers = local_servers()
    if not servers:
        if wanted:
            usual = ", ".join(f"{place.title} ({place.address})" for place in USUAL)
            raise SettingsError(f"no model server answers on this machine: looked for {usual}")
        return {}
    for server in servers:
        told = ", ".join(server.names()[:_NAMED])
        typer.echo(f"{server.place.title} answers on this machine: {told}", err=True)
    name = servers[0].names()[0]
    if ask and not wanted and sys.stdin.isatty():
        wanted = typer.confirm(f"Answer by {name}?", default=True)
    if wanted:
        return dict(servers[0].variables(name))
    typer.echo(f"`helix up --model {name}` answers by it.", err=True)
    return {}


def what_runs(settings: Settings) -> str:
    """Two lines: where the data is and which model answers, and how to change both."""
    if settings.llm == "offline":
        answering = "No model answers: quotes of your documents only"
    else:
        answering = f"{settings.llm} answers"
    return (
        f"Data: {place_of(settings.database_url)}. Change it with --data DIR or DATABASE_URL\n"
        f"{answering}. Change it with --model NAME or HELIX_LLM: docs/models.md"
    )


def _save(values: dict[str, str]) -> None:
    """Add ``values`` to the user's settings file, and say so."""
    file = user_file()
    lines = "".join(f"{name}={value}\n" for name, value in values.items())
    if file is None:
        raise SettingsError(f"there is no home folder to keep settings in: set {lines.split()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o600)  # keys of models are put there too
        with file.open("a") as stream:
            stream.write(f"\n# chosen by `helix up`, where nothing was set\n{lines}")
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}") from None
    typer.echo(f"Kept for other commands in {file}: {', '.join(values)}", err=True)


@contextmanager
def prepared(settings: Settings, samples: bool | None) -> Iterator[None]:
    """The database runs and has its schema while the block lasts; an empty library has samples.

    Args:
        samples: whether it gets them; None: the user is asked, where there is one.

    Raises:
        StoreUnavailable: as open_url does.
    """
    import psycopg

    from db.migrate import migrate
    from helix.library.samples import sample_uploads  # they take a second to load
    from helix.library.uploads import store_uploads

    try:
        with open_database(settings.database_url) as url:
            migrate(url)
            with psycopg.connect(url) as connection:
                if _is_empty(connection) and _wants_samples(samples):
                    store_uploads(connection, sample_uploads(), DEFAULT_TENANT)
                    typer.echo("The samples are brought in while the page opens.", err=True)
            yield
    except DatabaseError as error:
        raise StoreUnavailable(str(error)) from error


def _is_empty(connection: Connected) -> bool:
    row = connection.execute(sql.IS_EMPTY, (DEFAULT_TENANT,)).fetchone()
    return bool(row and row[0])


def _wants_samples(samples: bool | None) -> bool:
    if samples is None and sys.stdin.isatty():
        return typer.confirm("The library is empty. Bring in the sample documents?", default=True)
    return bool(samples)


def open_in_browser(address: str) -> None:
    """Open the page where there is a screen for it; nobody waits for the browser."""
    screen = sys.platform != "linux" or {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & set(os.environ)
    if screen:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
