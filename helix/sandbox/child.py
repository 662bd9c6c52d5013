"""The process of one file: takes the bytes, does the work under limits, answers and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from helix.sandbox.confinement import confine_reader, die_with_parent
from helix.sandbox.frames import NoAnswer, Request, Work, reason_frame

_OURS = ("readers", "printed", "rendering")
"""The folders of our own code that works on files: where it failed is told by their lines."""
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
    out_of_memory = reason_frame(request.out_of_memory)
    frames: Iterable[bytes]
    try:
        frames = _work(request, connection)
    except MemoryError:
        frames = [out_of_memory]
    except NoAnswer as reason:
        frames = [reason_frame(str(reason))]
    except RecursionError:
        frames = [reason_frame("it is nested too deeply to read")]
    except Exception as error:  # noqa: BLE001 - a library's; which, and where, but not the text
        frames = [reason_frame(f"the reader failed ({_where(error)})")]
    for part in frames:
        connection.sendall(part)


def _work(request: Request, connection: socket.socket) -> Iterable[bytes]:
    module, _, function = request.work.partition(":")
    work: Work = getattr(import_module(module), function)
    for name in request.modules:  # where one cannot be imported, the failure is this work's
        import_module(name)
    data = _receive(connection, request.size)
    return work(data, request.options, connection.sendall)


def _receive(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size, socket.MSG_WAITALL)
    if len(data) != size:
        os._exit(1)  # nobody waits for the answer any more
    return data


def _where(error: Exception) -> str:
    """ "KeyError, docx.py:120": the innermost line of ours that was being run."""
    name = type(error).__name__
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.parent.name in _OURS:
            place = f", {file.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return name + place
