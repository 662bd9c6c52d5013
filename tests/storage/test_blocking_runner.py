"""Coroutines for code that cannot await: in the process that made the runner, and no other."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from helix.errors import StoreUnavailable
from helix.storage.write_pool import BlockingRunner

REFUSED = 7


async def doubled(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_a_call_is_answered_until_it_is_closed() -> None:
    runner = BlockingRunner()
    assert runner.run(doubled, 3) == 6
    runner.close()
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        runner.run(doubled, 3)


def test_a_forked_process_is_refused_and_does_not_wait_for_ever() -> None:
    runner = BlockingRunner()
    runner.run(doubled, 3)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            runner.run(doubled, 3)
        except StoreUnavailable:
            os._exit(REFUSED)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == REFUSED
    assert runner.run(doubled, 3) == 6
    runner.close()
