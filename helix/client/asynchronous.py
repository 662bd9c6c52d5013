"""``AsyncHelix``: the client, for code in an event loop."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Self, TypeVar, Unpack
from urllib.parse import urlsplit

import httpx

from helix.client import calls
from helix.client.answer_stream import AsyncAnswerStream, PendingStream, frames_of
from helix.client.answers import Answer, answer_of
from helix.client.calls import Call, File, Json, QuestionOptions, SearchOptions, UploadOptions
from helix.client.errors import CLOSED, IncompleteStream, ServerTimeout
from helix.client.event_reader import RunFollower
from helix.client.frames import Frame
from helix.client.library import (
    Document,
    Edited,
    Run,
    RunFile,
    SearchResults,
    Upload,
    change_of,
    document_of,
    edited_of,
    page_of,
    search_results_of,
    upload_of,
)
from helix.client.outcomes import FIRST_PAUSE_SECONDS, Attempts, Outcome
from helix.errors import BadRequest

_CONNECT_SECONDS = 5.0
T = TypeVar("T")


def _checked_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):  # a port that is none, a host that is none
        is_address = False
    if not is_address:
        raise BadRequest(f"{url!r} is no address: give one like http://localhost:8080")
    return url.rstrip("/")


def _checked_key(key: str) -> str:
    """The key without white space around it, such as the end of the line in a file."""
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise BadRequest("the API key has characters that none has: copy it anew, hx_ included")
    return key


class AsyncHelix:
    """A client of the server at ``url``.

    Args:
        url: the server's address, such as ``http://localhost:8080``.
        key: an API key, where the server asks for keys.
        tenant: the tenant whose documents are meant; None for the key's, or the default one.
        timeout: the longest silence of the server, in seconds.
        retries: how often a request that the server has not acted on is sent again.

    Every method raises HelixError (helix.errors, helix.client.errors), whose text is one line.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        key: str | None = None,
        *,
        tenant: str | None = None,
        timeout: float = 300.0,
        retries: int = 2,
    ) -> None:
        self._attempts = Attempts(_checked_address(url), retries)
        self._tenant = tenant
        self._opened = partial(
            httpx.AsyncClient,
            base_url=self._attempts.address,
            headers={"Authorization": f"Bearer {own}"} if (own := _checked_key(key or "")) else {},
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
        )
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}
        self._is_closed = False

    def ask(self, question: str, **options: Unpack[QuestionOptions]) -> PendingStream:
        """An answer as it streams: ``async with helix.ask(…) as stream``."""
        return PendingStream(self.stream(calls.query(question, options, stream=True)))

    async def stream(self, call: Call) -> AsyncAnswerStream:
        """The same of a request of your own that is answered with an answer's events."""
        return AsyncAnswerStream(await self._send(call), self._attempts.address)

    async def query(self, question: str, **options: Unpack[QuestionOptions]) -> Answer:
        """An answer, once it is whole."""
        return await self._read(calls.query(question, options), answer_of)

    async def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResults:
        """The passages that fit ``query``, best first; no model is asked."""
        return await self._read(calls.search(query, options), search_results_of)

    async def upload(self, *files: File, **options: Unpack[UploadOptions]) -> Upload:
        """Upload files; the server reads them afterwards in a run: ``wait`` for it."""
        call = await asyncio.to_thread(calls.upload, files, options)
        return await self._read(call, upload_of)

    async def follow(self, run_id: int) -> AsyncGenerator[Run | RunFile, None]:
        """Yield each change of a run and its files, until the run has ended."""
        async with aclosing(self.run_frames(run_id)) as frames:
            async for frame in frames:
                change = change_of(frame)
                if change is not None:
                    yield change

    async def wait(self, run_id: int) -> Run:
        """The run once it has ended: ``done``, ``failed`` or ``cancelled``."""
        runs = [change async for change in self.follow(run_id) if isinstance(change, Run)]
        return runs[-1]

    async def document(self, document_id: int, *, text: bool = False) -> Document:
        """One document, with its ``text`` if wanted."""
        path = f"/v1/documents/{document_id}"
        return await self._read(calls.get(path, text=str(text).lower()), document_of)

    async def documents(self, search: str = "", **params: Any) -> AsyncGenerator[Document, None]:
        """All documents whose title or path has ``search``; ``params`` as GET /v1/documents."""
        after = None
        while True:
            call = calls.get("/v1/documents", q=search, after=after, **params)
            documents, after = await self._read(call, page_of)
            for document in documents:
                yield document
            if after is None:
                return

    async def set_metadata(
        self, metadata: Json, *, ids: Sequence[int] | None = None, **filters: Any
    ) -> Edited:
        """Merge ``metadata`` into that of documents, all or none; None takes a key away.

        They are those of ``ids``, those that ``filters`` leave (as GET /v1/documents), or both.
        """
        return await self._read(calls.set_metadata(metadata, ids, filters), edited_of)

    async def delete(self, document_id: int) -> None:
        """Delete a document, its chunks and its original file."""
        await self.json(Call("DELETE", f"/v1/documents/{document_id}"))

    async def run_frames(self, run_id: int) -> AsyncGenerator[Frame, None]:
        """The events of a run as the server sent them; a broken connection is opened again."""
        follower = RunFollower(run_id, self._attempts.retries)
        while not follower.has_ended:
            error = None
            try:
                async with aclosing(await self._send(follower.call())) as response:
                    async for frame in frames_of(response):
                        follower.take(frame)
                        yield frame
            except (IncompleteStream, ServerTimeout) as cut:
                error = cut
            if not follower.has_ended:
                follower.broke_off(error)
                await asyncio.sleep(FIRST_PAUSE_SECONDS)

    async def _read(self, call: Call, read: Callable[[dict[str, Any]], T]) -> T:
        payload = await self.json(call)
        try:
            return read(payload)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self._attempts.invalid_response() from None

    async def json(self, call: Call) -> dict[str, Any]:
        """The JSON of the response to any request."""
        content = await self.content(call)
        try:
            payload = json.loads(content) if content else {}
        except ValueError:
            raise self._attempts.invalid_response() from None
        if not isinstance(payload, dict):
            raise self._attempts.invalid_response()
        return payload

    async def content(self, call: Call) -> bytes:
        """The bytes of the response to any request, such as those of a file."""
        async with aclosing(await self._send(call)) as response:
            try:
                return await response.aread()
            except httpx.RequestError as error:
                raise self._attempts.error(error) from None

    async def _send(self, call: Call) -> httpx.Response:
        """The response to a request, with its body still unread."""
        for attempt in itertools.count(1):
            outcome: Outcome
            try:
                client = self._client()
                request = _request(client, call.of(self._tenant))
                outcome = await client.send(request, stream=True)
                if outcome.is_success:
                    return outcome
                async with aclosing(outcome):
                    await outcome.aread()
            except (httpx.RequestError, httpx.InvalidURL) as error:
                outcome = error
            await asyncio.sleep(self._attempts.pause(call, outcome, attempt))
        raise AssertionError("unreachable")

    def _client(self) -> httpx.AsyncClient:
        """The connections of the running event loop: those of another are no use in it."""
        if self._is_closed:
            raise BadRequest(CLOSED)
        running = asyncio.get_running_loop()
        if (client := self._clients.get(running)) is None:
            for ended in [loop for loop in tuple(self._clients) if loop.is_closed()]:
                self._clients.pop(ended, None)  # another thread may have been faster
            client = self._clients[running] = self._opened()
        return client

    async def aclose(self) -> None:
        """Close its connections in the running event loop; no loop can use it from then on."""
        self._is_closed = True
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _request(client: httpx.AsyncClient, call: Call) -> httpx.Request:
    try:
        return client.build_request(
            call.method,
            call.path,
            params=dict(call.params),
            json=call.json,
            data=None if call.form is None else dict(call.form),
            files=list(call.files) or None,
            headers=dict(call.headers),
        )
    except (TypeError, ValueError) as error:
        raise calls.unsendable(error) from None
