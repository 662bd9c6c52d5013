"""The files that settings are read from besides the environment, which wins over both."""

from __future__ import annotations

import logging
import os
from functools import cache
from io import StringIO
from pathlib import Path

from dotenv.main import resolve_variables
from dotenv.parser import Original, parse_stream

from db.errors import DatabaseError

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
