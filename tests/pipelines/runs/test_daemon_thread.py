"""A thread whose end nothing waits for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pipelines.runs.daemon_thread import in_daemon_thread


def test_its_result_and_its_error_are_those_of_the_function() -> None:
    assert asyncio.run(in_daemon_thread(divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_daemon_thread(divmod, 7, 0))


class _Panic(BaseException):
    """An error of a library in Rust: no Exception."""


def test_a_panic_is_raised_too() -> None:
    def work() -> None:
        raise _Panic

    with pytest.raises(_Panic):
        asyncio.run(asyncio.wait_for(in_daemon_thread(work), 20))


def test_an_interrupted_program_does_not_wait_for_it() -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def walk() -> None:
        begun.set()
        assert may_end.wait(60)
        ended.set()

    async def plan() -> None:
        planning = asyncio.create_task(in_daemon_thread(walk))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        planning.cancel()

    asyncio.run(plan())  # as Ctrl-C ends it; to_thread would make this wait
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(60)
