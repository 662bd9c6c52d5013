"""Documents, runs and answers straight from the database of DATABASE_URL."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from helix.commands.service.base import Query
from helix.domain.scope import Scope
from helix.domain.stored_scope import scope_of_stored
from helix.errors import BadRequest, Unavailable
from helix.library import run_progress
from helix.library.access import Connected, Library, Row
from helix.library.document_edits import edit_document
from helix.library.document_list import DocumentFilter, Page, list_documents, summarise
from helix.library.documents import get_document, remove_document
from helix.library.errors import UnsupportedMedia
from helix.library.run_progress import Event
from helix.settings import Settings
from helix.storage.connections import Connections
from helix.storage.database import open_url
from helix.storage.tenant_connections import TenantConnections

if TYPE_CHECKING:
    from helix.answering.pipeline import AnswerRequest
    from helix.services import Services


class DatabaseLibrary:
    """A LibraryService over one tenant's library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    @property
    def library(self) -> Library:
        """The library itself, for what has no method here."""
        return self._library

    async def summary(self) -> Row:
        return await summarise(self._library)

    async def list_documents(self, filters: DocumentFilter, page: Page) -> Row:
        return await list_documents(self._library, filters, page)

    async def get_document(self, document_id: int, *, with_text: bool) -> Row:
        return await get_document(self._library, document_id, with_text)

    async def edit_document(self, document_id: int, changes: Row) -> None:
        await self._library.change(
            partial(
                edit_document, document_id=document_id, changes=changes, tenant=self._library.tenant
            )
        )

    async def remove_document(self, document_id: int) -> None:
        await self._library.change(
            partial(remove_document, document_id=document_id, tenant=self._library.tenant)
        )

    async def list_runs(self, limit: int) -> Row:
        return await run_progress.list_runs(self._library, limit)

    async def get_run(self, run_id: int, limit: int) -> Row:
        return await run_progress.get_run(self._library, run_id, limit)

    def follow_run(self, run_id: int) -> AsyncGenerator[Event, None]:
        return run_progress.follow(self._library, run_id)

    async def stop_run(self, run_id: int) -> str:
        return await run_progress.stop_run(self._library, run_id)


class DatabaseAnswers(DatabaseLibrary):
    """An AnswerService over services that are open."""

    def __init__(self, services: Services, tenant: str) -> None:
        super().__init__(services.library.of(tenant))
        self._services = services
        self._tenant = tenant

    async def stream(self, query: Query) -> AsyncGenerator[str | Row, None]:
        from helix.answering.events import for_readers_of

        if query.conversation_id:
            async for piece in self._turn(query):
                yield piece
            return
        request = self._request(query)
        async with aclosing(await request.start()) as stream:
            async for delta in for_readers_of(stream):
                yield delta
        answer = await request.finish(await request.conclude(stream))
        yield request.response(answer, with_verdict=request.has_verdict)

    async def _turn(self, query: Query) -> AsyncGenerator[str | Row, None]:
        """The pieces of the next answer of a conversation, then its JSON."""
        from helix.conversations.questions import Asking, Conversing, in_place_of, next_in

        services, conversation_id = self._services, query.conversation_id
        add = next_in(self._tenant, conversation_id)
        if query.replaced_message is not None:
            keeps = not query.question
            add = in_place_of(
                self._tenant, conversation_id, query.replaced_message, keeps_question=keeps
            )
        turn_request = Asking(
            conversation_id, add, query.question, _stored_scope(query), with_ids=False,
            mode=query.mode, images=query.images, model=query.model,
        )  # fmt: skip
        conversing = Conversing(services.turns, services.answering, services.settings)
        turn = await conversing.begin(self._library, turn_request, scope_of_stored)
        await turn.started()
        async for event in turn.events(0):
            if event.name == "token":
                yield json.loads(event.data)["t"]
            elif event.name == "error":
                raise Unavailable(json.loads(event.data)["error"])
        if "abstained" in turn.response:
            yield turn.response

    async def put_image(self, conversation_id: str, name: str, data: bytes) -> Row:
        from helix.answering.images import ImagesNotSupported, UploadedImage, image_type, not_taken
        from helix.conversations.conversation_rows import create
        from helix.conversations.images import add_image

        if not any(llm.sees for llm in self._services.choices.values()):
            raise ImagesNotSupported(self._services.llm.identity)
        if (media := image_type(data)) is None:
            raise UnsupportedMedia(not_taken(data))

        def keep(connection: Connected) -> Row:
            create(connection, self._tenant, conversation_id, "", {})
            image = UploadedImage(data, media)
            return add_image(connection, self._tenant, conversation_id, image, name)

        return await self._library.change(keep)

    async def path(self, conversation_id: str) -> list[Row]:
        from helix.conversations.views import active_path

        return await active_path(self._library, conversation_id)

    async def show(self, conversation_id: str, message_id: int) -> None:
        from helix.conversations.tree import switch

        await self._library.change(
            partial(
                switch, tenant=self._tenant, conversation_id=conversation_id, message_id=message_id
            )
        )

    async def stop(self, conversation_id: str) -> bool:
        from helix.conversations.liveness import MessageRow
        from helix.conversations.views import get_conversation

        answering = (await get_conversation(self._library, conversation_id))["answering"]
        if answering is None:
            return False
        row = MessageRow(self._library, conversation_id, answering)
        return await self._services.turns.stop(row) is not None

    def _scope(self, query: Query, tenant: str) -> Scope:
        return Scope(tenant, document_ids=query.document_ids, tags=query.tags)

    async def answer(self, query: Query) -> Row:
        return await self._request(query).run_json()

    async def search(self, query: Query, limit: int) -> Row:
        from helix.domain.questions import question_of

        text = question_of(query.question, self._services.settings.max_question_chars)
        scope = self._scope(query, self._tenant)
        return {"q": text, **await self._services.passages(text, scope, limit)}

    def _request(self, query: Query) -> AnswerRequest:
        from helix.answering.answer import Question
        from helix.answering.pipeline import AnswerRequest

        limit = self._services.settings.max_question_chars
        if (length := len(query.question)) > limit:
            raise BadRequest(f"the question has {length} characters; the limit is {limit}")
        scope = self._scope(query, self._tenant)
        mode = query.mode or self._services.settings.mode
        return AnswerRequest(
            self._services.answering, Question(query.question, scope, mode=mode, model=query.model)
        )


def _stored_scope(query: Query) -> Row | None:
    """The scope that a message keeps; None where the conversation's own is meant."""
    if query.document_ids is None and query.tags is None:
        return None
    ids = {} if query.document_ids is None else {"document_ids": list(query.document_ids)}
    return ids | ({} if query.tags is None else {"filters": {"tags": list(query.tags)}})


@asynccontextmanager
async def database_library(settings: Settings, tenant: str) -> AsyncIterator[DatabaseLibrary]:
    """The tenant's documents and runs; neither an embedder nor a model is loaded."""
    async with open_url(settings.database_url) as url:
        connections = Connections(url, pool_size=1)
        try:
            yield DatabaseLibrary(Library(TenantConnections(connections, tenant)))
        finally:
            await connections.close()


@asynccontextmanager
async def database_answers(settings: Settings, tenant: str) -> AsyncIterator[DatabaseAnswers]:
    """The tenant's documents, and answers from them; this takes seconds to load."""
    from helix.services import open_services

    async with open_services(settings) as services:
        yield DatabaseAnswers(services, tenant)
