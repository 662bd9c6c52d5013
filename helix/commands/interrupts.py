"""Ctrl-C as something that a command waits for, and SIGTERM as Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading
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


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """End the block at SIGTERM as at Ctrl-C: what is half done is undone, and not left behind.

    Signals are the main thread's: another one, such as an import's with new vectors, changes
    nothing, and its transaction ends with the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
