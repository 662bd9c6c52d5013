"""The work of a confined process on a file: it reads it, tells its progress, and answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from helix.sandbox.frames import NoAnswer, Send
from pipelines.readers import Reader, UnreadableFile
from pipelines.readers.searchable_text import without_navigation
from pipelines.sandbox import answer

_BETWEEN_PROGRESS = 0.05  # seconds


def read_in_frames(data: bytes, options: Mapping[str, Any], send: Send) -> Iterable[bytes]:
    """The frames of ``data``'s text, by the reader of ``options``.

    Raises:
        NoAnswer: the reader's reason.
    """
    module, _, function = options["reader"].partition(":")
    reader: Reader = getattr(import_module(module), function)
    progress = _Progress(send)
    try:
        read = without_navigation(reader(data, progress.hear))
    except UnreadableFile as reason:
        raise NoAnswer(str(reason)) from None
    progress.send()
    return answer.frames_of(read, options["text_chars"])


class _Progress:
    """Sends on what a reader says, now and then and the last of it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._unsent: tuple[int, int] | None = None
        self._sent_at = 0.0

    def hear(self, done: int, total: int) -> None:
        self._unsent = (done, total)
        if time.monotonic() - self._sent_at >= _BETWEEN_PROGRESS:
            self.send()

    def send(self) -> None:
        if self._unsent:
            self._send(answer.progress_frame(*self._unsent))
            self._unsent, self._sent_at = None, time.monotonic()
