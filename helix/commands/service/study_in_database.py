"""Study sets straight from the database of DATABASE_URL; without keys there is one learner."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

from helix.commands.service.in_database import DatabaseLibrary
from helix.domain.stored_scope import scope_of_stored
from helix.library.access import Library, Row
from helix.library.run_progress import Event
from helix.library.worker_processes import WorkerProcesses
from helix.settings import Settings
from helix.study import attempts, repetition, sets
from helix.study.formats import Format, exported
from helix.study.items import Difficulty, Kind
from helix.study.passages import documents_in
from helix.study.repetition import Rating
from helix.study.views import item_view

_LEARNER = ""


class DatabaseStudy:
    """A StudyService over one tenant's library."""

    def __init__(self, documents: DatabaseLibrary, settings: Settings) -> None:
        self.documents = documents
        self._library: Library = documents.library
        self._settings = settings

    async def list_sets(self) -> list[Row]:
        rows: list[Row] = (await sets.list_sets(self._library))["sets"]
        return rows

    async def read_set(self, set_id: int) -> Row:
        study_set, items = await sets.set_with_items(self._library, set_id)
        return study_set | {"items": list(map(item_view, items))}

    async def order(
        self, kind: Kind, title: str, scope: Row, difficulty: Difficulty, count: int | None
    ) -> Row:
        whole = scope_of_stored(scope, self._library.tenant)
        ids = await documents_in(self._library, whole)
        new = sets.NewSet(kind, title, scope, ids, difficulty, count)
        set_id: int = await self._change(sets.order_set, new=new)
        return await sets.get_set(self._library, set_id)

    async def follow(self, run_id: int) -> AsyncGenerator[Event, None]:
        workers = WorkerProcesses(self._settings.model_copy(update={"workers": 1}))
        workers.ensure()
        try:
            async with aclosing(self.documents.follow_run(run_id)) as changes:
                async for change in changes:
                    yield change
        finally:
            await workers.stop()

    async def due(self, limit: int) -> Row:
        retention = self._settings.study_retention
        return await repetition.due_cards(self._library, _LEARNER, retention, limit)

    async def export(self, set_id: int, kind: Format) -> bytes:
        return exported(kind, *await sets.set_with_items(self._library, set_id))

    async def review(self, card_id: int, rating: Rating) -> Row:
        return await self._mine(
            repetition.review, item_id=card_id, rating=rating,
            retention=self._settings.study_retention,
        )  # fmt: skip

    async def undo_review(self) -> Row:
        return await self._mine(repetition.undo_review)

    async def open_attempt(self, set_id: int) -> Row:
        return await self._mine(attempts.open_attempt, set_id=set_id)

    async def answer(self, attempt_id: int, item_id: int, answer: Any) -> Row:
        return await self._mine(
            attempts.answer_question, attempt_id=attempt_id, item_id=item_id, answer=answer
        )

    async def finish(self, attempt_id: int) -> Row:
        return await self._mine(attempts.finish_attempt, attempt_id=attempt_id)

    async def _mine(self, action: Callable[..., Row], **values: Any) -> Row:
        result: Row = await self._change(action, learner=_LEARNER, **values)
        return result

    async def _change(self, action: Callable[..., Any], **values: Any) -> Any:
        return await self._library.change(partial(action, tenant=self._library.tenant, **values))
