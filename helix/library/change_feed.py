"""The change feed of a tenant's library: one look for all who follow it in this process.

Documents come and change by workers, commands and other servers. What they have in common is the
database, so that is looked at, by a fingerprint of the rows that costs no text.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

from helix.domain.scope import Spaces
from helix.library.access import Library, Row, Watch
from helix.storage.statements import documents as sql

PAUSE_SECONDS = 2.0
_SHARE = 0.05
"""Of the time, what looking may take at most: a large library is looked at less often."""
_MOST_RUNS = 50


async def changes(library: Library, pause: float = PAUSE_SECONDS) -> AsyncGenerator[Row, None]:
    """``{"documents", "version", "runs"}`` of the library, now and after each change.

    ``version`` differs where any document does; ``runs`` are the open ones.

    Raises:
        StoreUnavailable: the database is gone.
    """
    watch = library.watches.setdefault(_key(library), Watch())
    watch.followers += 1
    if watch.task is None:
        watch.task = asyncio.create_task(_look(library, watch, pause))
    sent: Row | None = None
    try:
        while True:
            async with watch.changed:
                while watch.error is None and watch.state == sent:
                    await watch.changed.wait()
                if watch.error:
                    raise watch.error
                sent = watch.state
            yield dict(sent or {})
    finally:
        watch.followers -= 1
        if not watch.followers:
            _forget(library, watch)
            watch.left.set()


async def _look(library: Library, watch: Watch, pause: float) -> None:
    loop = asyncio.get_running_loop()
    try:
        while not watch.left.is_set():  # not cancelled: that would close the connection of a look
            started = loop.time()
            state = await library.row(sql.LIBRARY_STATE, {"most": _MOST_RUNS})
            seconds = loop.time() - started
            if state != watch.state:
                async with watch.changed:
                    watch.state = state
                    watch.changed.notify_all()
            with suppress(TimeoutError):
                await asyncio.wait_for(watch.left.wait(), max(pause, seconds / _SHARE))
    except Exception as error:  # noqa: BLE001 - told to all who follow, who would wait for ever
        _forget(library, watch)
        async with watch.changed:
            watch.error = error
            watch.changed.notify_all()


def _forget(library: Library, watch: Watch) -> None:
    """Let the next to follow begin anew, where nobody has yet."""
    if library.watches.get(_key(library)) is watch:
        del library.watches[_key(library)]


def _key(library: Library) -> tuple[str, Spaces]:
    return library.tenant, library.reach.spaces
