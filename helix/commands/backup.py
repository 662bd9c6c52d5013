"""``helix backup`` and ``helix restore``: all of a database in one file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from db.errors import DatabaseError
from helix import __version__
from helix.commands.interrupts import sigterm_as_interrupt
from helix.errors import HelixError

if TYPE_CHECKING:
    from db.backup.archive import Manifest
    from helix.storage.connections import Connected

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup, a zip.")]
_Days = Annotated[
    int | None,
    typer.Option(min=1, help="Days until you delete FILE: records of erasure name it so long."),
]
_COUNTED = ("documents", "chunks", "answers")


class BackupFailed(HelixError):
    """A backup could not be made, checked or restored."""


def backup(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="The backup, a zip.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing: say whether FILE is whole.")
    ] = False,
    keep_days: _Days = None,
    gone: Annotated[
        bool, typer.Option("--gone", help="Write nothing: note that FILE was deleted.")
    ] = False,
) -> None:
    """Write all that DATABASE_URL's database holds of Helix to FILE, as of this moment.

    Documents with their vectors and original files, answers, keys, runs: of all tenants. Servers
    and workers go on meanwhile. FILE is whole or not there, and only its owner may read it.
    Settings are not in it, nor the objects of HELIX_FILES' bucket. Without FILE: list the backups
    that are known and not noted as deleted.
    """
    import psycopg

    from db.backup.archive import checked
    from db.backup.dump import save
    from db.migrate import migrate
    from db.url import is_embedded
    from helix.library.audit import NOBODY

    with database_errors_as_helix():
        if file is None:
            _list_known()
            return
        if check:
            typer.echo(f"{file} is whole: {_described(checked(file))}")
            return
        with configured_database() as (configured, url):
            if gone:
                _note_gone(url, file.name)
                return
            if is_embedded(configured):  # it has nobody else to bring it up to date
                migrate(url)
            begun = datetime.now(UTC)
            manifest = save(url, file, f"Helix {__version__}")
            with psycopg.connect(url, autocommit=True) as connection:
                made = {"file": file.name, "made_at": begun, "days": keep_days}
                record_copy(connection, "helix backup", NOBODY, made)
        size = f"{file.stat().st_size / 1e6:,.1f} MB"
        typer.echo(f"{file} is written ({size}): {_described(manifest)}")


def restore(
    file: _File,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete what the database holds of Helix first.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --replace: do not ask.")] = False,
) -> None:
    """Put the backup FILE into DATABASE_URL's database, which is empty and used by nobody.

    FILE is checked first, and all of it comes in or nothing. It may be of an earlier Helix, and of
    another Postgres, embedded or not. Restore only backups of your own: the keys in it open the
    HTTP API.
    """
    import psycopg

    from db.backup.restore import restore as put_back
    from db.url import redact
    from helix.library.audit import NOBODY, record_command
    from helix.storage.statements import removals

    with database_errors_as_helix():
        if replace and not yes:
            typer.confirm("Delete all that the database holds of Helix?", abort=True)
        with configured_database() as (configured, url):
            manifest = put_back(url, file, replace=replace, place=redact(configured))
            with psycopg.connect(url) as connection:  # the log of before went with all else
                record_command(connection, "helix restore", NOBODY, f"made {manifest.made_at}")
                # it has what is deleted from now on, and itself it does not know
                it = {"file": file.name, "made_at": manifest.made_at, "days": None}
                connection.execute(removals.ADD_BACKUP, it)
        typer.echo(f"{file} is restored: {_described(manifest)}")


def _list_known() -> None:
    """List the backups that a deleted document may still be in."""
    import psycopg

    from helix.storage.statements import removals

    with configured_database() as (_, url), psycopg.connect(url) as connection:
        known = connection.execute(removals.ALL_BACKUPS).fetchall()
        if not known:
            typer.echo("no backup is known here; `helix backup FILE` makes one", err=True)
        for name, made_at, expires_at in known:
            until = f"until {expires_at:%Y-%m-%d}" if expires_at else "no end told"
            typer.echo(f"{made_at:%Y-%m-%d %H:%M}  {until}  {name}")


def _note_gone(url: str, name: str) -> None:
    """Note that the backup was deleted: records of erasure name it no more."""
    import psycopg

    from helix.storage.statements import removals

    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute(removals.BACKUP_GONE, (name,)).rowcount:
            raise BackupFailed(f"no backup {name} is known: `helix backup` lists them")


def record_copy(
    connection: Connected, action: str, tenant: str, backup: Mapping[str, Any] | None = None
) -> None:
    """Record that a command has copied data out; ``connection`` is in autocommit.

    A ``backup`` (its file, when it was made, days until it is deleted) is known from then on to
    whoever asks what still has a deleted document.

    A standby takes no writes, and some of its owners back up from there: the copy holds all the
    same, and a line says that the log does not have it.
    """
    import psycopg

    from helix.library.audit import record_command
    from helix.storage.statements import removals

    try:
        record_command(connection, action, tenant)
        if backup:
            connection.execute(removals.ADD_BACKUP, backup)
    except psycopg.Error as error:
        typer.echo(f"helix: not in the audit log ({type(error).__name__})", err=True)


@contextmanager
def database_errors_as_helix() -> Iterator[None]:
    """Errors of the database's own modules as Helix's, which are told in one line."""
    try:
        with sigterm_as_interrupt():  # no part of a backup or an export stays
            yield
    except DatabaseError as error:
        raise BackupFailed(str(error)) from error


@contextmanager
def configured_database() -> Iterator[tuple[str, str]]:
    """The value of DATABASE_URL, and the URL of its database, which runs while the block lasts."""
    from db.migrate import database_url
    from db.url import open_database

    configured = database_url()
    with open_database(configured) as url:
        yield configured, url


def _described(manifest: Manifest) -> str:
    counts = ", ".join(f"{table} {manifest.rows(table):,}" for table in _COUNTED)
    origin = f"made {manifest.made_at} by {manifest.made_by}, schema {manifest.schema_version}"
    if not manifest.files_elsewhere:
        return f"{counts}; {origin}"
    return f"{counts}; {manifest.files_elsewhere:,} original files are in the bucket; {origin}"
