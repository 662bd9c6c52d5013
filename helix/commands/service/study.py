"""The sets, cards and attempts of ``helix study``; without a server there is one learner."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from helix.commands.service.documents import LibraryService
from helix.commands.service.operations import Service, asked
from helix.commands.service.requests import get, send
from helix.commands.service.service_choice import opened_library, server_or_settings
from helix.domain.scope import scope_of_stored
from helix.errors import HelixError
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

if TYPE_CHECKING:
    from helix.commands.service.server_connection import ServerConnection

_LEARNER = ""


class StudyOff(HelixError):
    """Study is not part of what is asked."""

    def __init__(self, where: str) -> None:
        super().__init__(f"study is off {where}: HELIX_STUDY=on turns it on")


class StudyService(Service):
    """The sets of one tenant, and one learner's attempts; rows are those of the HTTP API.

    Every method may raise NotFound for an unknown id, BadRequest and Unavailable. ``documents`` are
    those that sets are made of, with the runs that make them.
    """

    def __init__(self, at: ServerConnection | Library, settings: Settings | None = None) -> None:
        super().__init__(at, settings)
        self.documents = LibraryService(at)

    @asked(lambda: get("/v1/study", limit=200))
    async def list_sets(self) -> Row:
        """The newest sets."""
        return await sets.list_sets(self.library)

    @asked(lambda set_id: get(f"/v1/study/{set_id}"))
    async def read_set(self, set_id: int) -> Row:
        """A set with its ``items``; the keys of questions are left out."""
        study_set, items = await sets.set_with_items(self.library, set_id)
        return study_set | {"items": list(map(item_view, items))}

    @asked(lambda kind, title, scope, difficulty, count: send(
        "POST", "/v1/study", tenant_in_body=True,
        body={"kind": kind, "title": title, "difficulty": difficulty, "count": count} | scope,
    ))  # fmt: skip
    async def order(
        self, kind: Kind, title: str, scope: Row, difficulty: Difficulty, count: int | None
    ) -> Row:
        """Order a set of ``scope``, as POST /v1/study has it; returns it with its ``run_id``."""
        ids = await documents_in(self.library, scope_of_stored(scope, self.library.tenant))
        new = sets.NewSet(kind, title, scope, ids, difficulty, count)
        return await sets.get_set(self.library, await self._change(sets.order_set, new=new))

    async def follow(self, run_id: int) -> AsyncGenerator[Event, None]:
        """The changes of a run until it has ended; a worker is there that carries it out."""
        workers = None
        if self.server is None:
            workers = WorkerProcesses(self.settings.model_copy(update={"workers": 1}))
            workers.ensure()
        try:
            async with aclosing(self.documents.follow_run(run_id)) as changes:
                async for change in changes:
                    yield change
        finally:
            if workers:
                await workers.stop()

    @asked(lambda set_id: send("DELETE", f"/v1/study/{set_id}"))
    async def delete_set(self, set_id: int) -> Row:
        """Delete a set with its items, attempts and reviews."""
        await self._change(sets.delete_set, set_id=set_id)
        return {}

    @asked(lambda limit: get("/v1/study/due", limit=limit))
    async def due(self, limit: int) -> Row:
        """The cards that are due, then new ones."""
        retention = self.settings.study_retention
        return await repetition.due_cards(self.library, _LEARNER, retention, limit)

    async def export(self, set_id: int, kind: Format) -> bytes:
        """A set as a file."""
        if self.server:
            return await self.server.content(get(f"/v1/study/{set_id}/export", format=kind))
        return exported(kind, *await sets.set_with_items(self.library, set_id))

    @asked(lambda card_id, rating: send(
        "POST", f"/v1/study/cards/{card_id}/review", {"rating": rating}
    ))  # fmt: skip
    async def review(self, card_id: int, rating: Rating) -> Row:
        """Store how well a card was known; returns when it is due next."""
        retention = self.settings.study_retention
        return await self._mine(
            repetition.review, item_id=card_id, rating=rating, retention=retention
        )

    @asked(lambda: send("POST", "/v1/study/cards/undo"))
    async def undo_review(self) -> Row:
        """Undo the last review."""
        return await self._mine(repetition.undo_review)

    @asked(lambda set_id: send("POST", f"/v1/study/{set_id}/attempts"))
    async def open_attempt(self, set_id: int) -> Row:
        """The unfinished attempt at a quiz, or a new one."""
        return await self._mine(attempts.open_attempt, set_id=set_id)

    @asked(lambda attempt_id, item_id, answer: send(
        "POST", f"/v1/study/attempts/{attempt_id}/answers", {"item_id": item_id, "answer": answer}
    ))  # fmt: skip
    async def answer(self, attempt_id: int, item_id: int, answer: Any) -> Row:
        """Store an answer; returns whether it is right, with its key and sources."""
        return await self._mine(
            attempts.answer_question, attempt_id=attempt_id, item_id=item_id, answer=answer
        )

    @asked(lambda attempt_id: send("POST", f"/v1/study/attempts/{attempt_id}/finish"))
    async def finish(self, attempt_id: int) -> Row:
        """Score an attempt."""
        return await self._mine(attempts.finish_attempt, attempt_id=attempt_id)

    async def _mine(self, action: Callable[..., Row], **values: Any) -> Row:
        result: Row = await self._change(action, learner=_LEARNER, **values)
        return result

    async def _change(self, action: Callable[..., Any], **values: Any) -> Any:
        return await self.library.change(partial(action, tenant=self.library.tenant, **values))


@asynccontextmanager
async def study_service(option: str | None, tenant: str) -> AsyncIterator[StudyService]:
    """The tenant's sets, to be opened.

    Raises:
        StudyOff: HELIX_STUDY is off, here or at the server.
        HelixError: as ``named_server`` does.
    """
    target = await server_or_settings(option, tenant)
    if isinstance(target, Settings):
        if target.study == "off":
            raise StudyOff("here")
        async with opened_library(target, tenant) as library:
            yield StudyService(library, target)
        return
    from helix.commands.service.server_connection import connected

    async with connected(target, tenant) as server:
        if not await server.has_study():
            raise StudyOff(f"at {target.address}")
        yield StudyService(server)
