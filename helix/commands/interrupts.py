"""Ctrl-C as something that a command waits for, where it does not mean the end of the command."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts() -> Iterator[asyncio.Event]:
    """An event that each Ctrl-C sets, as long as the block lasts.

    Where signals cannot be handled (Windows, a thread) Ctrl-C ends the command as ever.
    """
    pressed = asyncio.Event()
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    try:
        loop.add_signal_handler(signal.SIGINT, pressed.set)
    except (NotImplementedError, RuntimeError, ValueError):
        yield pressed
        return
    try:
        yield pressed
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
