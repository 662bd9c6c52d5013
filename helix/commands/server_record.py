"""The address of an embedded database's server, recorded for commands on the same machine.

The server holds a lock on ``server.lock`` in the database's folder for as long as it lives, and
the file says where it listens. The kernel drops the lock on any death, so an address is believed
only while its server lives: a key is never shown to whoever took over its port.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from db.embedded_postgres import (
    embedded_directory,
    make_folder,
    open_lock,
    read_report,
    try_lock,
    write_report,
)
from db.errors import DatabaseError
from db.url import is_embedded

_FILE = "server.lock"


@contextmanager
def announced(database_url: str, address: str) -> Iterator[None]:
    """Tell commands of ``address`` while the block runs; nothing where nobody could find it.

    Of several servers over one database the first is told.
    """
    file = _file(database_url)
    if file is None:
        yield
        return
    try:
        make_folder(file.parent)
        descriptor = open_lock(file)
    except OSError:  # told by whoever opens the database
        yield
        return
    try:
        if try_lock(descriptor, exclusive=True):
            write_report(descriptor, {"address": address})
        yield
    finally:
        os.close(descriptor)


def recorded_address(database_url: str) -> str | None:
    """The address of the living server of this database; None where there is none."""
    file = _file(database_url)
    if file is None or not file.is_file():
        return None
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:  # another user's
        return None
    try:
        if try_lock(descriptor, exclusive=False):
            return None  # nobody holds it: its server is gone
        return read_report(descriptor).get("address")
    finally:
        os.close(descriptor)


def _file(database_url: str) -> Path | None:
    if not is_embedded(database_url):
        return None
    try:
        return embedded_directory(database_url).resolve() / _FILE
    except DatabaseError:  # told when it is opened
        return None
