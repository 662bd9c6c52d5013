"""What `helix up` does before it serves: settings where there are none, the schema, samples."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from db.env_files import read_env_files, user_file
from db.errors import DatabaseError
from db.url import open_database
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import SettingsError, StoreUnavailable
from helix.settings import Settings, load_settings

if TYPE_CHECKING:
    from helix.storage.connections import Connected

_IS_EMPTY = "SELECT NOT EXISTS (SELECT FROM documents WHERE tenant_id = %s)"


def settings_of_first_run() -> Settings:
    """The settings; where no database is named, those of a first run, kept in the user's file.

    Raises:
        SettingsError: as load_settings does, or the user's file cannot be written.
    """
    try:
        variables = {**read_env_files(), **os.environ}
    except DatabaseError as error:
        raise SettingsError(str(error)) from None
    if variables.get("DATABASE_URL"):
        return load_settings()
    values = {"DATABASE_URL": "embedded"}
    if not (
        variables.get("GEMINI_API_KEY")
        or variables.get("HELIX_LLM")
        or variables.get("HELIX_EMBEDDER")
    ):
        values |= {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    _save(values)
    return load_settings()


def _save(values: dict[str, str]) -> None:
    """Add ``chosen`` to the user's settings file, and say so."""
    file = user_file()
    lines = "".join(f"{name}={value}\n" for name, value in values.items())
    if file is None:
        raise SettingsError(f"there is no home folder to keep settings in: set {lines.split()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as stream:
            stream.write(f"\n# chosen by `helix up`, where nothing was set\n{lines}")
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}") from None
    summary = "the bundled Postgres"
    if "HELIX_LLM" in values:
        summary += ", answers and search offline, without a key"
    typer.echo(f"First run: {summary}. Kept in {file}; change it there.", err=True)


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
    row = connection.execute(_IS_EMPTY, (DEFAULT_TENANT,)).fetchone()
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
