"""The responses under a stream of answers, which are closed with it.

A vendor's stream holds its response in a reference cycle: left alone, a stream that nobody reads
any more keeps its connection, and the model at work, until garbage collection. Over llama.cpp that
was seen to last for 200 seconds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx

_opened: ContextVar[list[httpx.Response] | None] = ContextVar("opened", default=None)


@contextmanager
def collecting_responses(into: list[httpx.Response]) -> Iterator[None]:
    """Append each streamed response of a client of ours that begins in this context to ``into``."""
    token = _opened.set(into)
    try:
        yield
    finally:
        _opened.reset(token)


def collect(response: httpx.Response) -> None:
    """Append a response that has begun to the list of its context; one that is closed is left."""
    opened = _opened.get()
    if opened is not None and not response.is_closed:
        opened.append(response)


async def _collect(response: httpx.Response) -> None:
    collect(response)


HOOKS: dict[str, list[Callable[[httpx.Response], Awaitable[None]]]] = {"response": [_collect]}
"""The ``event_hooks`` of a client whose responses are collected."""


def collecting_client(timeout: float, **options: Any) -> httpx.AsyncClient:
    """OpenAI's own kind of client, whose responses are collected; ``timeout`` in seconds."""
    from openai import DefaultAsyncHttpxClient

    client: httpx.AsyncClient = DefaultAsyncHttpxClient(
        timeout=timeout, event_hooks=HOOKS, **options
    )
    return client
