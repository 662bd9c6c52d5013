"""Quotas of a tenant's documents, as a request that brings some in meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from helix.library.access import Connected
from helix.library.storage_quota import Quota, held
from helix.overload.limits import LimitReached
from helix.settings import Settings
from helix.storage.statements import quotas as sql

_FULL_SECONDS = 3600
"""Seconds until a tenant without room is to try again: somebody may delete something by then."""
Result = TypeVar("Result")


def within_quota(
    settings: Settings, tenant: str, action: Callable[[Connected], Result],
    grows: Callable[[Result], bool],
) -> Callable[[Connected], Result]:  # fmt: skip
    """``action``, undone where the tenant has more documents or bytes after it than it may.

    ``grows`` says of its result whether it brought any. One such action of a tenant at a time: two
    that each have room together may have none.

    The action raises:
        LimitReached: the tenant has no room.
    """
    if not Quota.of(settings).is_set:
        return action

    def within(connection: Connected) -> Result:
        connection.execute(sql.ONE_AT_A_TIME, {"tenant": tenant})
        result = action(connection)
        if grows(result):
            check_quota(connection, settings, tenant)
        return result

    return within


def check_quota(connection: Connected, settings: Settings, tenant: str, more: int = 0) -> None:
    """Return where the tenant may have what it has, and ``more`` documents.

    Raises:
        LimitReached: it has too many documents, or bytes of them.
    """
    documents, size = held(connection, tenant)
    if excess := Quota.of(settings).excess(documents + more, size):
        raise LimitReached(excess.setting, excess.most, excess.what, _FULL_SECONDS)
