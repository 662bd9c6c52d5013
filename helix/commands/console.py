"""Helpers of the commands: a database connection, safe text, tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from helix.domain.scope import tenant_name
from helix.settings import load_settings
from helix.settings.prompts import use_folder

if TYPE_CHECKING:
    from helix.storage.connections import Connected

Result = TypeVar("Result")
LARGEST_ID = 2**63 - 1

# Zero-width joiners are part of words in some scripts, and of emoji.
_PRINTED_CONTROLS = "\n\t\u200c\u200d"


def in_database(action: Callable[[Connected], Result]) -> Result:
    """The result of ``action`` on one connection to ``DATABASE_URL``, in one transaction.

    Raises:
        SettingsError: the settings are incomplete.
        StoreUnavailable: the database is down, without a schema, or refused a statement.
    """

    import psycopg  # here, for a command that asks a server has no use for a database

    from helix.storage.connections import unavailable
    from helix.storage.database import opened_url

    settings = load_settings()
    use_folder(settings.prompts_folder)
    with opened_url(settings) as url:  # no event loop, which would keep Ctrl-C from the action
        try:
            with psycopg.connect(url) as connection:
                return action(connection)
        except psycopg.Error as error:
            raise unavailable(error) from error


def recorded(command: str, thing: str, tenant: str, action: Callable[[Connected], int]) -> int:
    """The id of the ``thing`` that ``action`` changed, recorded in the audit log with it.

    ``command`` is as it is typed, such as ``helix spaces put``.
    """
    from helix.library.audit import record_command  # here, for most commands record nothing

    tenant_name(tenant)

    def change_and_record(connection: Connected) -> int:
        number = action(connection)
        record_command(connection, command, tenant, f"{thing} {number}")
        return number

    return in_database(change_and_record)


def printable(text: str) -> str:
    """``text`` without the characters by which a document could steer a terminal."""
    return "".join(
        c for c in text if c in _PRINTED_CONTROLS or not unicodedata.category(c).startswith("C")
    )


def one_line(text: str) -> str:
    """``text`` as ``printable`` has it, its white space as single blanks."""
    return printable(" ".join(text.split()))


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print ``rows`` under ``columns``; long cells are folded, none is cut."""
    # here, for a question has no table: a tenth of a second
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(
        *(Column(name, overflow="fold") for name in columns), box=SIMPLE_HEAD, pad_edge=False
    )
    for cells in rows:
        # Text, because rich would read a name such as "[red]" as markup
        table.add_row(*(Text(one_line(str(cell))) for cell in cells))
    Console(highlight=False).print(table)
