"""From the value of DATABASE_URL to a libpq URL one can connect to, and what may be said of it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from db.errors import DatabaseError

if TYPE_CHECKING:
    import psycopg

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
