"""Questions, answers and conversations of one tenant, at a server or in this process."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from helix.commands.service.documents import LibraryService
from helix.commands.service.operations import asked
from helix.commands.service.requests import Request, get, send
from helix.domain.conditions import Condition
from helix.domain.scope import Scope, scope_of_stored
from helix.errors import BadRequest, Unavailable
from helix.library.access import Connected, Library, Row
from helix.library.errors import UnsupportedMedia

if TYPE_CHECKING:
    from helix.answering.pipeline import AnswerRequest
    from helix.answering.question import Mode
    from helix.client.calls import QuestionOptions
    from helix.commands.service.server_connection import ServerConnection
    from helix.services import Services

_PATH_PAGE = 200


@dataclass(frozen=True)
class Query:
    """A question as the command line asks it; None: of all documents.

    ``conversation_id`` names the conversation that it goes on with; empty: it is in none.
    ``replaced_message`` is the message of that conversation that it replaces; without a text the
    message's own question is asked again. ``images`` are ids of images of that conversation which
    the question is about; None: it says nothing of them. ``mode`` is as POST /v1/query has it;
    None: HELIX_MODE of whoever answers. ``model`` is the name of the model that is to answer; None:
    whichever does. ``where``: of documents whose metadata fits. ``space``: the name or id of the
    space that they stand in; None: of any. ``as_of``: a moment, of the library as it stood then.
    """

    question: str
    document_ids: tuple[int, ...] | None = None
    tags: tuple[str, ...] | None = None
    conversation_id: str = ""
    mode: Mode | None = None
    replaced_message: int | None = None
    images: tuple[str, ...] | None = None
    model: str | None = None
    where: tuple[Condition, ...] = ()
    space: str | None = None
    as_of: datetime | None = None

    def options(self) -> QuestionOptions:
        """The options of the question, as a server is told them."""
        options: QuestionOptions = {}
        if self.document_ids is not None:
            options["document_ids"] = self.document_ids
        if self.tags is not None:
            options["tags"] = self.tags
        if self.where:
            options["filters"] = {"metadata": self._conditions}
        if self.images is not None:
            options["images"] = self.images
        if self.mode:
            options["mode"] = self.mode
        if self.model is not None:
            options["model"] = self.model
        if self.space is not None:
            options["space"] = self.space
        if self.as_of is not None:
            options["as_of"] = self.as_of.isoformat()
        return options

    def stored_scope(self) -> Row | None:
        """The scope that a message keeps; None where the conversation's own is meant."""
        if self.document_ids is None and self.tags is None and not self.where:
            return None
        ids = {} if self.document_ids is None else {"document_ids": list(self.document_ids)}
        tags = {} if self.tags is None else {"tags": list(self.tags)}
        filters = tags | ({"metadata": self._conditions} if self.where else {})
        return ids | ({"filters": filters} if filters else {})

    @property
    def _conditions(self) -> list[Row]:
        return [one.to_json() for one in self.where]


def _question(query: Query) -> Request:
    from helix.client import calls

    return dict(vars(calls.query(query.question, query.options())))


class AnswerService(LibraryService):
    """A library that answers questions too: a server's, or one of ``services`` open here."""

    def __init__(self, at: ServerConnection | Library, services: Services | None = None) -> None:
        super().__init__(at)
        self._opened = services

    @property
    def _services(self) -> Services:
        assert self._opened is not None
        return self._opened

    async def stream(self, query: Query) -> AsyncGenerator[str | Row, None]:
        """The pieces of the answer as they come, then its JSON, as POST /v1/query has it.

        An answer of a conversation that is stopped ends without its JSON.

        Raises:
            HelixError: the model or the database failed, also in the middle.
        """
        if self.server:
            pieces = self._of_server(self.server, query)
        else:
            pieces = self._turn(query) if query.conversation_id else self._answer(query)
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    async def _of_server(
        self, server: ServerConnection, query: Query
    ) -> AsyncGenerator[str | Row, None]:
        from helix.client import calls

        conversation = query.conversation_id
        if not conversation:
            request = calls.query(query.question, query.options(), stream=True)
        else:
            if query.replaced_message is None:
                await self._begin(server, conversation)
            replaced = query.replaced_message
            request = calls.turn(conversation, query.question, query.options(), replaced)
        async with aclosing(server.answer(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _begin(self, server: ServerConnection, conversation_id: str) -> None:
        """Have the conversation there, which it may be already."""
        body = {"id": conversation_id}
        await server.takes(send("POST", "/v1/conversations", body, tenant_in_body=True))

    async def _answer(self, query: Query) -> AsyncGenerator[str | Row, None]:
        from helix.answering.events import for_readers_of

        request = await self._request(query)
        async with aclosing(await request.start()) as stream:
            async for delta in for_readers_of(stream):
                yield delta
        answer = await request.finish(await request.conclude(stream))
        yield request.response(answer, with_verdict=request.has_verdict)

    async def _turn(self, query: Query) -> AsyncGenerator[str | Row, None]:
        """The pieces of the next answer of a conversation, then its JSON."""
        from helix.conversations.questions import Asking, Conversing, in_place_of, next_in

        services, conversation_id = self._services, query.conversation_id
        add = next_in(self.library.tenant, conversation_id)
        if query.replaced_message is not None:
            add = in_place_of(
                self.library.tenant, conversation_id, query.replaced_message,
                keeps_question=not query.question,
            )  # fmt: skip
        asking = Asking(
            conversation_id, add, query.question, query.stored_scope(), with_ids=False,
            mode=query.mode, images=query.images, model=query.model,
        )  # fmt: skip
        conversing = Conversing(services.turns, services.answering, services.settings)
        turn = await conversing.begin(self.library, asking, scope_of_stored)
        await turn.started()
        async for event in turn.events(0):
            if event.name == "token":
                yield json.loads(event.data)["t"]
            elif event.name == "error":
                raise Unavailable(json.loads(event.data)["error"])
        if "abstained" in turn.response:
            yield turn.response

    @asked(_question)
    async def answer(self, query: Query) -> Row:
        """The JSON alone; raises as ``stream`` does."""
        return await (await self._request(query)).run_json()

    @asked(lambda query, limit: get(
        "/v1/search", q=query.question, document_id=query.document_ids, tag=query.tags, top_k=limit,
        where=[json.dumps(one.to_json()) for one in query.where], space=query.space,
        as_of=query.as_of and query.as_of.isoformat(),
    ))  # fmt: skip
    async def search(self, query: Query, limit: int) -> Row:
        """The passages that fit the query's text in its scope, as GET /v1/search has them."""
        from helix.domain.input_text import question_of
        from helix.retrieval.passages import found_passages

        text = question_of(query.question, self._services.settings.max_question_chars)
        retriever, scope = self._services.engine.retriever, await self._scope(query)
        return {"q": text, **await found_passages(retriever, text, scope, limit)}

    async def put_image(self, conversation_id: str, name: str, data: bytes) -> Row:
        """Keep an image with the conversation, which is begun where it is none: `{id, name, …}`.

        Raises:
            ImagesNotSupported: the model that answers takes none.
            UnsupportedMedia: these bytes are no image that models take.
            BadRequest: it is too large, or the conversation has too many bytes of images.
        """
        if self.server:
            await self._begin(self.server, conversation_id)
        return await self._put_image(conversation_id, name, data)

    @asked(lambda conversation_id, name, data: {
        "method": "POST", "path": f"/v1/conversations/{conversation_id}/images", "form": {},
        "files": [("image", (name, data))],
    })  # fmt: skip
    async def _put_image(self, conversation_id: str, name: str, data: bytes) -> Row:
        from helix.answering.images import ImagesNotSupported, UploadedImage, image_type, not_taken
        from helix.conversations.conversation_rows import create
        from helix.conversations.images import add_image

        if not any(llm.sees for llm in self._services.choices.values()):
            raise ImagesNotSupported(self._services.llm.identity)
        if (media := image_type(data)) is None:
            raise UnsupportedMedia(not_taken(data))
        tenant, image = self.library.tenant, UploadedImage(data, media)

        def keep(connection: Connected) -> Row:
            create(connection, tenant, conversation_id, "", {})
            return add_image(connection, tenant, conversation_id, image, name)

        return await self.library.change(keep)

    async def path(self, conversation_id: str) -> list[Row]:
        """The messages of the conversation's active path, oldest first; raises NotFound."""
        path: list[Row] = []
        before = None
        while True:
            page = await self._page(conversation_id, before)
            path, before = page["path"] + path, page["earlier"]
            if before is None:
                return path

    @asked(lambda conversation_id, before: get(
        f"/v1/conversations/{conversation_id}", limit=_PATH_PAGE, before=before
    ))  # fmt: skip
    async def _page(self, conversation_id: str, before: int | None) -> Row:
        from helix.conversations.views import get_path

        return await get_path(self.library, conversation_id, _PATH_PAGE, before)

    @asked(lambda conversation_id, message_id: send(
        "PATCH", f"/v1/conversations/{conversation_id}", {"active": message_id},
        tenant_in_body=True,
    ))  # fmt: skip
    async def show(self, conversation_id: str, message_id: int) -> Row:
        """Make the path through the message the active one; raises NotFound."""
        from helix.conversations.tree import switch

        await self.library.change(
            partial(
                switch, tenant=self.library.tenant, conversation_id=conversation_id,
                message_id=message_id,
            )
        )  # fmt: skip
        return {}

    async def stop(self, conversation_id: str) -> bool:
        """Stop the answer that is being made in the conversation; False where there is none."""
        answering = (await self.conversation(conversation_id))["answering"]
        if answering is None:
            return False
        if self.server:
            path = f"/v1/conversations/{conversation_id}/messages/{answering}/stop"
            return await self.server.takes(send("POST", path))
        from helix.conversations.liveness import MessageRow

        row = MessageRow(self.library, conversation_id, answering)
        return await self._services.turns.stop(row) is not None

    @asked(lambda conversation_id: get(f"/v1/conversations/{conversation_id}", limit=1))
    async def conversation(self, conversation_id: str) -> Row:
        """The conversation without its messages; raises NotFound."""
        from helix.conversations.views import get_conversation

        return await get_conversation(self.library, conversation_id)

    async def _scope(self, query: Query) -> Scope:
        spaces = self.library.reach.spaces
        if query.space is not None:
            from helix.library.spaces import space_of

            spaces = (await space_of(self.library, query.space, spaces),)
        return Scope(
            self.library.tenant, document_ids=query.document_ids, tags=query.tags,
            metadata=query.where, spaces=spaces, as_of=query.as_of,
        )  # fmt: skip

    async def _request(self, query: Query) -> AnswerRequest:
        from helix.answering.pipeline import AnswerRequest
        from helix.answering.question import Question

        settings = self._services.settings
        if (length := len(query.question)) > settings.max_question_chars:
            limit = settings.max_question_chars
            raise BadRequest(f"the question has {length} characters; the limit is {limit}")
        mode = query.mode or settings.mode
        scope = await self._scope(query)
        question = Question(query.question, scope, mode=mode, model=query.model)
        return AnswerRequest(self._services.answering, question)
