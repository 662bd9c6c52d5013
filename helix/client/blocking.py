"""``Helix``: ``AsyncHelix`` for code without an event loop; each call blocks."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from typing import Any, Self, TypeVar, Unpack

from helix.client import calls
from helix.client.answer_stream import AsyncAnswerStream
from helix.client.answers import Answer
from helix.client.asynchronous import AsyncHelix
from helix.client.calls import Call, File, Json, QuestionOptions, SearchOptions, UploadOptions
from helix.client.errors import CLOSED
from helix.client.frames import Frame
from helix.client.library import Document, Edited, Run, RunFile, SearchResults, Upload
from helix.errors import BadRequest

T = TypeVar("T")
_END = object()


class EventLoop:
    """Runs coroutines for callers that block. Its thread is a daemon: a program may exit without
    closing it. A process that was forked has a loop of its own, begun with its first use."""

    def __init__(self) -> None:
        self._beginning = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="helix-client", daemon=True
        )
        self._thread.start()
        self._process = os.getpid()  # last: from here on other threads use the loop

    @property
    def is_closed(self) -> bool:
        """True once it is closed: nothing can be run, and nothing is open."""
        return self._loop.is_closed()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine; an interrupt of the caller, such as Ctrl-C, cancels it.

        Raises:
            BadRequest: it is closed.
        """
        if self.is_closed:
            coroutine.close()
            raise BadRequest(CLOSED)
        if self._process != os.getpid():  # threads do not come along
            with self._beginning:
                if self._process != os.getpid():
                    self._begin()
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def each(self, generator: AsyncGenerator[T, None]) -> Iterator[T]:
        """The items of an asynchronous generator, which is closed when the iteration ends early."""

        async def following() -> list[T]:
            return [item] if (item := await anext(generator, _END)) is not _END else []  # type: ignore[list-item]

        try:
            while items := self.run(following()):
                yield items[0]
        finally:
            if not self.is_closed:
                self.run(_closed(generator))

    def close(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def _closed(generator: AsyncGenerator[Any, None]) -> None:
    await generator.aclose()


class AnswerStream:
    """``AsyncAnswerStream`` for code without an event loop: iterate, then ask for ``answer``."""

    def __init__(self, stream: AsyncAnswerStream, loop: EventLoop) -> None:
        self._stream = stream
        self._loop = loop

    def __iter__(self) -> Iterator[str]:
        return self._loop.each(self._stream.pieces())

    def frames(self) -> Iterator[Frame]:
        """The events as the server sent them."""
        return self._loop.each(self._stream.frames())

    def answer(self) -> Answer:
        """The whole answer, once the stream has ended."""
        return self._loop.run(self._stream.answer())

    def close(self) -> None:
        """Close the connection."""
        if not self._loop.is_closed:
            self._loop.run(self._stream.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Helix:
    """A client of the server at ``url``; arguments, methods and errors are ``AsyncHelix``'s."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        key: str | None = None,
        *,
        tenant: str | None = None,
        timeout: float = 300.0,
        retries: int = 2,
    ) -> None:
        self._helix = AsyncHelix(url, key, tenant=tenant, timeout=timeout, retries=retries)
        self._loop = EventLoop()

    def ask(self, question: str, **options: Unpack[QuestionOptions]) -> AnswerStream:
        """An answer as it streams: ``with helix.ask(…) as stream``."""
        call = calls.query(question, options, stream=True)
        return AnswerStream(self._loop.run(self._helix.stream(call)), self._loop)

    def query(self, question: str, **options: Unpack[QuestionOptions]) -> Answer:
        """An answer, once it is whole."""
        return self._loop.run(self._helix.query(question, **options))

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResults:
        """The passages that fit ``query``, best first; no model is asked."""
        return self._loop.run(self._helix.search(query, **options))

    def upload(self, *files: File, **options: Unpack[UploadOptions]) -> Upload:
        """Upload files; the server reads them afterwards in a run: ``wait`` for it."""
        return self._loop.run(self._helix.upload(*files, **options))

    def follow(self, run_id: int) -> Iterator[Run | RunFile]:
        """Yield each change of a run and its files, until the run has ended."""
        return self._loop.each(self._helix.follow(run_id))

    def wait(self, run_id: int) -> Run:
        """The run once it has ended: ``done``, ``failed`` or ``cancelled``."""
        return self._loop.run(self._helix.wait(run_id))

    def document(self, document_id: int, *, text: bool = False) -> Document:
        """One document, with its ``text`` if wanted."""
        return self._loop.run(self._helix.document(document_id, text=text))

    def documents(self, search: str = "", **params: Any) -> Iterator[Document]:
        """All documents whose title or path has ``search``; ``params`` as GET /v1/documents."""
        return self._loop.each(self._helix.documents(search, **params))

    def set_metadata(
        self, metadata: Json, *, ids: Sequence[int] | None = None, **filters: Any
    ) -> Edited:
        """Merge ``metadata`` into that of documents, all or none; None takes a key away.

        They are those of ``ids``, those that ``filters`` leave (as GET /v1/documents), or both.
        """
        return self._loop.run(self._helix.set_metadata(metadata, ids=ids, **filters))

    def delete(self, document_id: int) -> None:
        """Delete a document, its chunks and its original file."""
        self._loop.run(self._helix.delete(document_id))

    def json(self, call: Call) -> dict[str, Any]:
        """The JSON of the response to any request."""
        return self._loop.run(self._helix.json(call))

    def close(self) -> None:
        """Close its connections."""
        if not self._loop.is_closed:
            self._loop.run(self._helix.aclose())
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
