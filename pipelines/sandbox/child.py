"""The process of one file: takes the bytes, reads them under limits, answers and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from pipelines.readers import Reader, ReadText, UnreadableFile
from pipelines.sandbox import answer
from pipelines.sandbox.confinement import confine_reader, die_with_parent
from pipelines.sandbox.request import Request

_BETWEEN_PROGRESS = 0.05  # seconds
_ANSWER = 3  # the file descriptor of the connection


def run(request: Request, connection: socket.socket, print_to: int, host: int) -> NoReturn:
    """Called in the fork of process ``host``; never returns."""
    try:
        die_with_parent(host)
        os.setsid()
        _leave_host_behind(connection, print_to)
        answer_to = socket.socket(fileno=_ANSWER)
        confine_reader(request.seconds, request.memory_mb)
        _answer(request, answer_to)
    finally:
        os._exit(0)


def _leave_host_behind(connection: socket.socket, print_to: int) -> None:
    """Signal handling as it was, and no file open but the connection and what is printed to."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sink = os.open(os.devnull, os.O_RDWR)
    for standard, target in enumerate((sink, sink, print_to)):
        os.dup2(target, standard)
    os.dup2(connection.detach(), _ANSWER)
    for descriptor in map(int, os.listdir("/dev/fd")):  # noqa: PTH208 - names, no paths
        if descriptor > _ANSWER:
            with contextlib.suppress(OSError):  # the one of the listing is closed already
                os.close(descriptor)


def _answer(request: Request, connection: socket.socket) -> None:
    # made beforehand: when memory is used up there is none to make them
    out_of_memory = answer.reason_frame(request.out_of_memory)
    try:
        frames = answer.frames_of(_read(request, connection), request.text_chars)
    except MemoryError:
        frames = [out_of_memory]
    except UnreadableFile as unreadable:
        frames = [answer.reason_frame(str(unreadable))]
    except RecursionError:
        frames = [answer.reason_frame("it is nested too deeply to read")]
    except Exception as error:  # noqa: BLE001 - a library's; which, and where, but not the text
        frames = [answer.reason_frame(f"the reader failed ({_where(error)})")]
    for part in frames:
        connection.sendall(part)


def _read(request: Request, connection: socket.socket) -> ReadText:
    module, _, function = request.reader.partition(":")
    reader: Reader = getattr(import_module(module), function)
    data = _receive(connection, request.size)
    progress = _Progress(connection)
    read = reader(data, progress.hear)
    progress.send()
    return read


def _receive(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size, socket.MSG_WAITALL)
    if len(data) != size:
        os._exit(1)  # nobody waits for the answer any more
    return data


class _Progress:
    """Sends on what a reader says, now and then and the last of it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._unsent: tuple[int, int] | None = None
        self._sent_at = 0.0

    def hear(self, done: int, total: int) -> None:
        self._unsent = (done, total)
        if time.monotonic() - self._sent_at >= _BETWEEN_PROGRESS:
            self.send()

    def send(self) -> None:
        if self._unsent:
            self._connection.sendall(answer.progress_frame(*self._unsent))
            self._unsent, self._sent_at = None, time.monotonic()


def _where(error: Exception) -> str:
    """ "KeyError, docx.py:120": the innermost line of ours that was being run."""
    name = type(error).__name__
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.parent.name == "readers":
            place = f", {file.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return name + place
