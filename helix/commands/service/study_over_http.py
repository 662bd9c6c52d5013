"""Study sets of a running server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from helix.client import calls
from helix.client.calls import Call
from helix.commands.service.over_http import ServerAnswers
from helix.library.access import Row
from helix.library.run_progress import Event
from helix.study.formats import Format
from helix.study.items import Difficulty, Kind
from helix.study.repetition import Rating


class ServerStudy:
    """A StudyService over a server's answers."""

    def __init__(self, documents: ServerAnswers) -> None:
        self.documents = documents

    async def list_sets(self) -> list[Row]:
        rows: list[Row] = (await self.documents.json(calls.get("/v1/study", limit=200)))["sets"]
        return rows

    async def read_set(self, set_id: int) -> Row:
        return await self.documents.json(calls.get(f"/v1/study/{set_id}"))

    async def order(
        self, kind: Kind, title: str, scope: Row, difficulty: Difficulty, count: int | None
    ) -> Row:
        body = {"kind": kind, "title": title, "difficulty": difficulty, "count": count} | scope
        return await self._post("/v1/study", body, tenant_in_body=True)

    def follow(self, run_id: int) -> AsyncGenerator[Event, None]:
        return self.documents.follow_run(run_id)

    async def due(self, limit: int) -> Row:
        return await self.documents.json(calls.get("/v1/study/due", limit=limit))

    async def export(self, set_id: int, kind: Format) -> bytes:
        path = f"/v1/study/{set_id}/export"
        return await self.documents.content(calls.get(path, format=kind))

    async def review(self, card_id: int, rating: Rating) -> Row:
        return await self._post(f"/v1/study/cards/{card_id}/review", {"rating": rating})

    async def undo_review(self) -> Row:
        return await self._post("/v1/study/cards/undo")

    async def open_attempt(self, set_id: int) -> Row:
        return await self._post(f"/v1/study/{set_id}/attempts")

    async def answer(self, attempt_id: int, item_id: int, answer: Any) -> Row:
        body = {"item_id": item_id, "answer": answer}
        return await self._post(f"/v1/study/attempts/{attempt_id}/answers", body)

    async def finish(self, attempt_id: int) -> Row:
        return await self._post(f"/v1/study/attempts/{attempt_id}/finish")

    async def _post(
        self, path: str, body: Row | None = None, *, tenant_in_body: bool = False
    ) -> Row:
        call = Call("POST", path, json=body, tenant_in_body=tenant_in_body)
        return await self.documents.json(call)
