"""The log of a process: it fails nobody, keeps what could not be written, and has a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from helix.domain.scope import WHOLE, Reach
from helix.errors import StoreUnavailable
from helix.library.access import Library
from helix.study.progress.actions import Learner, RecordedAction
from helix.study.progress.storage import MOST, ProgressLog

IDLE = timedelta(minutes=15)
AT = datetime(2026, 1, 1, tzinfo=UTC)
ADA, EVE = Learner("default", "ada"), Learner("other", "eve")


class Away(Library):
    """A library whose database is away ``failures`` times."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.written: list[tuple[Learner, list[RecordedAction]]] = []

    def of(self, tenant: str, reach: Reach = WHOLE) -> Library:
        return self

    async def change(self, action: Callable[[Any], Any]) -> Any:
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("the database is down")
        given: dict[str, Any] = action.keywords  # type: ignore[attr-defined]
        self.written.append((given["learner"], given["actions"]))


async def test_what_could_not_be_written_is_written_later() -> None:
    library = Away(failures=1)
    log = ProgressLog(library, IDLE)
    log.note(ADA, "question_asked", at=AT)
    log.note(ADA, "answer_rated", 2, at=AT)
    log.note(EVE, "map_made", at=AT)
    log.note(EVE, "map_made", 0, at=AT)
    assert await log.write() is False and library.written == []
    assert await log.write() is True
    ada = [RecordedAction(AT, "question_asked"), RecordedAction(AT, "answer_rated", 2)]
    assert sorted(library.written) == [(ADA, ada), (EVE, [RecordedAction(AT, "map_made")])]
    assert await log.write() is True and len(library.written) == 2


async def test_it_has_a_bound_while_the_database_is_away() -> None:
    library = Away(failures=1)
    log = ProgressLog(library, IDLE)
    for _ in range(MOST + 5):
        log.note(ADA, "card_reviewed", at=AT)
    assert log.dropped == 5
    writing = asyncio.create_task(log.write())
    await asyncio.sleep(0)
    log.note(ADA, "map_opened", at=AT)  # while the database is asked
    assert await writing is False and log.dropped == 6
    assert await log.write() is True
    ((_, noted),) = library.written
    assert len(noted) == MOST and noted[-1].action == "map_opened"


async def test_nothing_is_noted_where_nothing_is_kept() -> None:
    library = Away(failures=0)
    log = ProgressLog(library, IDLE, whose="off")
    log.note(ADA, "question_asked")
    assert await log.write() is True and library.written == []
