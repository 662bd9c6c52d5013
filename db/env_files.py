"""The files that settings are read from besides the environment, which wins over both."""

from __future__ import annotations

import os
from pathlib import Path

from dotenv import dotenv_values

from db.errors import DatabaseError

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

    Raises:
        DatabaseError: the file cannot be read.
    """
    try:
        return {name: value for name, value in dotenv_values(file).items() if value}
    except (OSError, UnicodeDecodeError):
        raise DatabaseError(f"the file {file} cannot be read: it must be UTF-8 text") from None


def read_env_files() -> dict[str, str]:
    """The variables of all files together, each from the file that wins; raises as one does."""
    found: dict[str, str] = {}
    for file in env_files():
        found |= read_env_file(file)
    return found
