"""Frames that are ready at the same moment are sent as one; none is held or lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from helix.serving import sse as module
from helix.serving.sse import joined


async def test_what_is_ready_in_the_same_turn_goes_together() -> None:
    go_on = asyncio.Event()

    async def frames() -> AsyncGenerator[bytes, None]:
        yield b"a"
        yield b"b"
        yield b"c"
        await go_on.wait()
        yield b"d"
        yield b"e"

    sent = joined(frames())
    assert await anext(sent) == b"a"  # the first, before the others are made
    assert await anext(sent) == b"bc"  # although the next may take long
    go_on.set()
    assert [each async for each in sent] == [b"de"]


async def test_what_was_made_before_a_failure_is_sent() -> None:
    async def frames() -> AsyncGenerator[bytes, None]:
        yield b"a"
        raise RuntimeError("broken")

    sent = joined(frames())
    assert await anext(sent) == b"a"
    with pytest.raises(RuntimeError, match="broken"):
        await anext(sent)


async def test_a_slow_reader_holds_up_what_is_made() -> None:
    made = 0

    async def frames() -> AsyncGenerator[bytes, None]:
        nonlocal made
        for _ in range(1000):
            made += 1
            yield b"x" * (module._MOST_BYTES // 4)

    sent = joined(frames())
    assert len(await anext(sent)) == module._MOST_BYTES // 4  # the first goes by itself
    for count in range(1, 4):
        assert len(await anext(sent)) == module._MOST_BYTES
        for _ in range(10):
            await asyncio.sleep(0)
        assert made <= 4 * (count + 1) + 2
    await sent.aclose()


async def test_frames_are_closed_before_their_reader_is() -> None:
    ended = []

    async def frames() -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    async def read() -> None:
        async for _ in sent:
            continue

    sent = joined(frames())
    reading = asyncio.create_task(read())
    for _ in range(5):
        await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert ended == [True]
