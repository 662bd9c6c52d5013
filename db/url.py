"""The files that settings are read from besides the environment, and DATABASE_URL among them:
from its value to a libpq URL one can connect to, and what may be said of it."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from dotenv.main import resolve_variables
from dotenv.parser import Original, parse_stream

from db.errors import DatabaseError

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger("helix.settings")

WORKING_FOLDER_FILE = Path(".env")


def env_files() -> tuple[Path, ...]:
    """The user's file, then ``.env`` of the working directory, which wins over it."""
    own = user_file()
    return (WORKING_FOLDER_FILE,) if own is None else (own, WORKING_FOLDER_FILE)


def user_file() -> Path | None:
    """``~/.config/helix/env``, or in XDG_CONFIG_HOME; None for a user without a home."""
    # the XDG specification: a relative path is to be ignored
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    try:
        folder = configured if configured.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return None
    return folder / "helix" / "env"


def read_env_file(file: Path) -> dict[str, str]:
    """The variables of one file that have a value; none where there is no such file.

    A line that is none is left out, with one warning in a process.

    Raises:
        DatabaseError: the file cannot be read.
    """
    variables, unread = parsed_env_file(file)
    for line in unread:
        _warn(file.absolute(), line)
    return variables


def parsed_env_file(file: Path) -> tuple[dict[str, str], list[int]]:
    """The same variables, and the numbers, from 1, of the lines that are left out."""
    bindings = list(parse_stream(StringIO(_text_of(file))))
    given = ((each.key, each.value) for each in bindings if each.key is not None)
    values = resolve_variables(given, override=True)
    return (
        {name: value for name, value in values.items() if value},
        [_line_of(each.original) for each in bindings if each.error],
    )


def _line_of(statement: Original) -> int:
    """The line of a statement, which dotenv has begin with the blank lines above it."""
    blank = len(statement.string) - len(statement.string.lstrip())
    return statement.line + statement.string[:blank].count("\n")


def _text_of(file: Path) -> str:
    if not os.access(file, os.F_OK):  # nor where its folder is closed to us
        return ""
    try:
        return file.read_text(encoding="utf-8")
    except IsADirectoryError:
        return ""
    except (OSError, UnicodeDecodeError):
        raise DatabaseError(f"the file {file} cannot be read: it must be UTF-8 text") from None


@cache
def _warn(file: Path, line: int) -> None:
    _log.warning("%s, line %s is no NAME=value and is left out", file, line)


def read_env_files() -> dict[str, str]:
    """The variables of all files together, each from the file that wins; raises as one does."""
    found: dict[str, str] = {}
    for file in env_files():
        found |= read_env_file(file)
    return found


HOW = "set it to postgresql://user:password@host:5432/name, or to embedded"


def is_embedded(database_url: str) -> bool:
    """True where the value names the bundled Postgres."""
    return database_url.partition(":")[0] == "embedded"


def place_of(database_url: str) -> str:
    """The place of the data, for people: the folder of the bundled Postgres, or the server's URL.

    Raises:
        DatabaseError: a malformed value of ``embedded:``.
    """
    if not is_embedded(database_url):
        return redact(database_url)
    from db.embedded_postgres import embedded_directory

    return f"{embedded_directory(database_url)} (the bundled Postgres)"


@contextlib.contextmanager
def open_database(database_url: str) -> Iterator[str]:
    """Yield a ``postgresql://`` URL for a value of DATABASE_URL.

    The embedded server runs for as long as the block does, started again where it was killed; it
    blocks while that starts.

    Raises:
        DatabaseError: the value is malformed, or the embedded Postgres does not start.
    """
    if is_embedded(database_url):
        from db.embedded_postgres import acquire, embedded_directory  # only where they are used
        from db.restart import Restarter

        with acquire(embedded_directory(database_url)) as postgres:
            restarter = Restarter(postgres.directory)
            try:
                yield postgres.url
            finally:
                restarter.stop()
        return
    scheme, separator, rest = database_url.partition("://")
    if scheme not in ("postgresql", "postgres") or not separator:
        raise DatabaseError(f"DATABASE_URL is malformed: {HOW}")
    yield f"postgresql://{rest}"


def redact(url: str) -> str:
    """The URL for a message: no password, also where one holds ``@`` or ``/`` unescaped."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url if is_embedded(url) else "***"
    # Up to the last @, for an unescaped one may belong to the password.
    account, at, place = rest.rpartition("@")
    user, colon, _ = account.partition(":")
    shown = f"{scheme}://{user}{':***' if colon else ''}{at}{place}"
    return re.sub(r"(?i)([?&][a-z]*pass[a-z]*=)[^&]*", r"\1***", shown)


def explain(url: str, error: psycopg.Error) -> DatabaseError:
    """The meaning of a failed connection to ``url``, in one line without the password."""
    import psycopg

    password = url.partition("://")[2].rpartition("@")[0].partition(":")[2]
    # libpq quotes the parts of a URL that it rejects; where the password is not percent-encoded
    # it takes a part of that for the host or the database, and would quote it too.
    if isinstance(error, psycopg.ProgrammingError) or re.search("[@/?#]", password):
        return DatabaseError(
            f"DATABASE_URL is malformed: {HOW} (with @ : / ? # % in a password percent-encoded)"
        )
    place, reason = redact(url), _reason(error)
    unknown = reason.endswith('" does not exist')
    if re.search("authentication failed|no password", reason) or (unknown and 'role "' in reason):
        return DatabaseError(
            f"{place} refuses the user ({reason}): check user and password in DATABASE_URL"
        )
    if unknown and 'database "' in reason:
        return DatabaseError(
            f"{place} has no such database ({reason}): create it, or mend DATABASE_URL"
        )
    if re.search("too many (clients|connections)|connection slots", reason):
        return DatabaseError(
            f"{place} has no connection left ({reason}): end programs that use it, or have fewer"
            " servers or a smaller HELIX_POOL_SIZE"
        )
    if os.strerror(errno.ENOSPC) in reason:  # it runs, and says so itself
        return DatabaseError(f"{place} has no room ({reason}): make some on its disk")
    return DatabaseError(f"cannot reach {place} ({reason}): start it, or mend DATABASE_URL")


def _reason(error: psycopg.Error) -> str:
    """The telling part of libpq's several lines."""
    lines = [line.strip(" -\t") for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "failed: " in line and not line.startswith("Multiple")]
    reason = (telling or lines or [type(error).__name__])[0]
    return reason.rpartition("failed: ")[2].removeprefix("FATAL:").strip()
