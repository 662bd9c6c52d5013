"""The stream of an answer or a run: events from the bytes of a response."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator
from typing import Any, Self

import httpx

from helix.client.answers import Answer, answer_of
from helix.client.errors import IncompleteStream, ServerTimeout
from helix.client.event_reader import AnswerReader
from helix.client.frames import Frame, FrameParser


class AsyncAnswerStream:
    """An answer as it comes: iterate over its pieces, then ask for the ``answer``.

    Leaving it early closes the connection, and with it the model's work.
    """

    def __init__(self, response: httpx.Response, address: str) -> None:
        self._response = response
        self._reader = AnswerReader(address)
        self._frames = frames_of(response)

    def __aiter__(self) -> AsyncIterator[str]:
        return self.pieces()

    async def pieces(self) -> AsyncGenerator[str, None]:
        """The pieces of the answer as they come; raises as ``answer`` does."""
        async for frame in self._frames:
            piece = self._reader.take(frame)
            self._reader.check()
            if piece is not None:
                yield piece

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """The events as the server sent them, with the ``error`` event of a failure.

        Raises:
            IncompleteStream, ServerTimeout: the connection broke off.
        """
        async for frame in self._frames:
            self._reader.take(frame)
            yield frame

    async def answer(self) -> Answer:
        """The whole answer, once the stream has ended.

        Raises:
            IncompleteStream, ServerTimeout: the stream broke off: the pieces so far are no answer.
            Unavailable: the server says that the answer failed.
        """
        return answer_of(await self.json())

    async def json(self) -> dict[str, Any]:
        """The same as the JSON of POST /v1/query; raises as ``answer`` does."""
        async for _ in self:
            continue
        return self._reader.payload()

    @property
    def is_stopped(self) -> bool:
        """True if the server reported that the answer was stopped: there is no whole one then."""
        return self._reader.is_stopped

    async def aclose(self) -> None:
        """Close the connection."""
        await self._frames.aclose()
        await self._response.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class PendingStream(Coroutine[Any, Any, AsyncAnswerStream]):
    """The stream that a request is answered with: ``await`` it, or use it in ``async with``."""

    def __init__(self, sending: Coroutine[Any, Any, AsyncAnswerStream]) -> None:
        self._sending = sending
        self._stream: AsyncAnswerStream | None = None

    def __await__(self) -> Generator[Any, None, AsyncAnswerStream]:
        return self._sending.__await__()

    def send(self, value: Any, /) -> Any:
        """Go on, as a coroutine does: a task may be made of this one."""
        return self._sending.send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an error within, as a coroutine does."""
        return self._sending.throw(*error)

    def close(self) -> None:
        """Give up before the request is sent."""
        self._sending.close()

    async def __aenter__(self) -> AsyncAnswerStream:
        self._stream = await self._sending
        return self._stream

    async def __aexit__(self, *_: object) -> None:
        if self._stream is not None:
            await self._stream.aclose()


async def frames_of(response: httpx.Response) -> AsyncGenerator[Frame, None]:
    """The events of a stream.

    Raises:
        IncompleteStream, ServerTimeout: the connection broke off, or was silent for too long.
    """
    parser = FrameParser()
    try:
        async for received in response.aiter_bytes():
            for frame in parser.feed(received):
                yield frame
    except httpx.TimeoutException:
        raise ServerTimeout("the server keeps silent in the middle of a stream") from None
    except httpx.RequestError:
        raise IncompleteStream(
            "the connection broke off in the middle of a stream: ask again"
        ) from None
