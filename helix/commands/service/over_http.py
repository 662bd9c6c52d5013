"""Documents, runs and answers of a running server, in the words of the command line."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import Any

from helix.client import calls
from helix.client.asynchronous import AsyncHelix
from helix.client.calls import Call, QuestionOptions
from helix.client.errors import Conflict, Forbidden, Unauthorized, Unreachable
from helix.commands.service.address import Server
from helix.commands.service.base import Query
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import BadRequest, HelixError, Unavailable
from helix.library.access import Row
from helix.library.document_list import DocumentFilter, Page
from helix.library.run_progress import Event

_ANSWER_SECONDS = 300
_PATH_PAGE = 200


class ServerAnswers:
    """An AnswerService over a client of ``server``."""

    def __init__(self, server: Server, client: AsyncHelix, tenant: str | None) -> None:
        self._server = server
        self._client = client
        self._tenant = tenant

    async def model(self) -> Row:
        """The model that answers where a question chooses none, as GET /v1/about has it."""
        about = await self.json(calls.get("/v1/about"))
        found: Row = next(each for each in about["models"] if each["name"] == about["model"])
        return found

    async def has_study(self) -> bool:
        """True where the server has study (HELIX_STUDY)."""
        about = await self.json(calls.get("/v1/about"))
        return bool(about.get("study", True))  # a former release has it, and does not say so

    async def summary(self) -> Row:
        return await self.json(calls.get("/v1/library"))

    async def list_documents(self, filters: DocumentFilter, page: Page) -> Row:
        return await self.json(
            calls.get(
                "/v1/documents", q=filters.search, status=filters.status, tag=filters.tags,
                company=filters.company, kind=filters.kind, limit=page.limit, after=page.after,
                sort=page.sort, order=page.order,
            )
        )  # fmt: skip

    async def get_document(self, document_id: int, *, with_text: bool) -> Row:
        text = str(with_text).lower()
        return await self.json(calls.get(f"/v1/documents/{document_id}", text=text))

    async def edit_document(self, document_id: int, changes: Row) -> None:
        await self.json(Call("PATCH", f"/v1/documents/{document_id}", json=changes))

    async def remove_document(self, document_id: int) -> None:
        await self.json(Call("DELETE", f"/v1/documents/{document_id}"))

    async def list_runs(self, limit: int) -> Row:
        return await self.json(calls.get("/v1/runs", limit=min(limit, 200)))

    async def get_run(self, run_id: int, limit: int) -> Row:
        return await self.json(calls.get(f"/v1/runs/{run_id}", limit=limit))

    async def follow_run(self, run_id: int) -> AsyncGenerator[Event, None]:
        with self._translated_errors():
            async with aclosing(self._client.run_frames(run_id)) as frames:
                async for frame in frames:
                    yield Event(frame.event, 0, frame.json())

    async def stop_run(self, run_id: int) -> str:
        payload = await self.json(Call("POST", f"/v1/runs/{run_id}/cancel"))
        return str(payload["status"])

    async def stream(self, query: Query) -> AsyncGenerator[str | Row, None]:
        with self._translated_errors():
            async with await self._client.stream(await self._call(query)) as stream:
                async for piece in stream:
                    yield piece
                if not stream.is_stopped:
                    yield await stream.json()

    async def _call(self, query: Query) -> Call:
        """The request of ``query``; the conversation that it names is there afterwards."""
        conversation = query.conversation_id
        if not conversation:
            return calls.query(query.question, _question_options(query), stream=True)
        if query.replaced_message is None:
            await self._begin(conversation)
        return calls.turn(
            conversation, query.question, _question_options(query), query.replaced_message
        )

    async def _begin(self, conversation_id: str) -> None:
        body = {"id": conversation_id}
        with suppress(Conflict):  # there is one already
            await self._client.json(
                Call("POST", "/v1/conversations", json=body, tenant_in_body=True)
            )

    async def put_image(self, conversation_id: str, name: str, data: bytes) -> Row:
        with self._translated_errors():
            await self._begin(conversation_id)
        files = [("image", (name, data))]
        address = f"/v1/conversations/{conversation_id}/images"
        return await self.json(Call("POST", address, form={}, files=files))

    async def path(self, conversation_id: str) -> list[Row]:
        path: list[Row] = []
        before = None
        while True:
            address = f"/v1/conversations/{conversation_id}"
            page = await self.json(calls.get(address, limit=_PATH_PAGE, before=before))
            path, before = page["path"] + path, page["earlier"]
            if before is None:
                return path

    async def show(self, conversation_id: str, message_id: int) -> None:
        address = f"/v1/conversations/{conversation_id}"
        await self.json(Call("PATCH", address, json={"active": message_id}, tenant_in_body=True))

    async def stop(self, conversation_id: str) -> bool:
        address = f"/v1/conversations/{conversation_id}"
        answering = (await self.json(calls.get(address, limit=1)))["answering"]
        if answering is None:
            return False
        try:
            await self._client.json(Call("POST", f"{address}/messages/{answering}/stop"))
        except Conflict:
            return False
        return True

    async def answer(self, query: Query) -> Row:
        return await self.json(calls.query(query.question, _question_options(query)))

    async def search(self, query: Query, limit: int) -> Row:
        return await self.json(
            calls.get(
                "/v1/search", q=query.question, document_id=query.document_ids, tag=query.tags,
                top_k=limit,
            )
        )  # fmt: skip

    async def upload(self, name: str, data: bytes, fields: Mapping[str, Any]) -> Row:
        """Send one file; ``run_id`` and ``documents``, as POST /v1/documents has them."""
        files = [("file", (name, data))]
        return await self.json(Call("POST", "/v1/documents", form=fields, files=files))

    async def json(self, call: Call) -> Row:
        """The server's reply to a request that has no method here."""
        with self._translated_errors():
            return await self._client.json(call)

    async def content(self, call: Call) -> bytes:
        """The bytes that the server sends."""
        with self._translated_errors():
            return await self._client.content(call)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """The client's errors in the words of the command line."""
        try:
            yield
        except Unauthorized:
            raise ServerNeedsKey(self._server) from None
        except Forbidden as error:
            names_another = str(error).startswith("tenant_id ")
            raise (OtherTenant() if names_another else error) from None
        except Unreachable:
            raise Unavailable(
                f"no server answers at {self._server.address}: start it with `helix serve`,"
                " or leave --server and HELIX_SERVER out"
            ) from None
        except Conflict as error:
            raise BadRequest(str(error)) from None


class ServerNeedsKey(HelixError):
    """The server asks for a key, and was shown none or a wrong one."""

    def __init__(self, server: Server) -> None:
        problem = "does not know the key in" if server.key else "asks for a key: set"
        super().__init__(
            f"the server at {server.address} {problem} HELIX_API_KEY"
            " (`helix keys create` makes one, where the database is)"
        )


class OtherTenant(HelixError):
    """The key is not the tenant's that was named."""

    def __init__(self) -> None:
        super().__init__("the key in HELIX_API_KEY is another tenant's: leave --tenant out")


def _question_options(query: Query) -> QuestionOptions:
    options = QuestionOptions()
    if query.document_ids is not None:
        options["document_ids"] = query.document_ids
    if query.tags is not None:
        options["tags"] = query.tags
    if query.images is not None:
        options["images"] = query.images
    if query.mode:
        options["mode"] = query.mode
    if query.model is not None:
        options["model"] = query.model
    return options


@asynccontextmanager
async def server_answers(
    server: Server, tenant: str, seconds: float = _ANSWER_SECONDS
) -> AsyncIterator[ServerAnswers]:
    """The tenant's documents at a server; the default one is whichever its key opens.

    ``seconds`` is how long the server may keep silent.
    """
    key = server.key.get_secret_value() if server.key else None
    whose = None if tenant == DEFAULT_TENANT else tenant
    async with AsyncHelix(server.address, key, tenant=whose, timeout=seconds, retries=1) as client:
        yield ServerAnswers(server, client, whose)
