"""SIGTERM as Ctrl-C, for commands that would leave something half done behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
