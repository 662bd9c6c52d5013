"""The driver's errors as Helix's own."""

from __future__ import annotations

import psycopg

from helix.errors import StoreUnavailable


def unavailable(error: psycopg.Error) -> StoreUnavailable:
    """The driver's error as Helix's: what happened and what to do, never a statement's values."""
    if isinstance(error, psycopg.errors.UndefinedTable):
        return StoreUnavailable("the database has no Helix schema: run `python -m db.migrate`")
    if isinstance(error, psycopg.OperationalError):
        return StoreUnavailable(
            "the database did not answer: check that it is running and DATABASE_URL is right"
        )
    state = error.sqlstate or type(error).__name__
    return StoreUnavailable(f"the database refused the statement ({state}): run `helix doctor`")
