"""One of the processes of a server: ``python -m`` this, by ``supervisor.py``.

Its arguments: the host, its number from 0, how many there are, the descriptor of the line to its
parent, and the descriptors of the bound sockets.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from threading import Thread

from helix.commands.serve import run_server
from helix.commands.server.supervisor import READY
from helix.errors import HelixError
from helix.settings import Settings, load_settings


def share_of(settings: Settings, number: int, processes: int) -> Settings:
    """The share of the server's limits that one of ``processes`` may use, at least one of each.

    The first keeps the workers and what is done beside answering, for all of them.
    """

    def part(whole: int) -> int:
        return -(-whole // processes)

    return settings.model_copy(
        update={
            "answers": part(settings.answers),
            "answers_waiting": part(settings.answers_waiting),
            "pool_size": part(settings.pool_size),
            "workers": settings.workers if number == 0 else 0,
        }
    )


def _end_with(line: socket.socket) -> None:
    """End this process in order when its parent is gone, which breaks the line."""
    while line.recv(1):
        continue
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Serve until SIGTERM."""
    host, number, processes, line_descriptor, *descriptors = sys.argv[1:]
    line = socket.socket(fileno=int(line_descriptor))
    sockets = [socket.socket(fileno=int(each)) for each in descriptors]
    try:
        settings = share_of(load_settings(), int(number), int(processes))
        Thread(target=_end_with, args=[line], daemon=True).start()
        run_server(settings, host, sockets, lambda: line.sendall(READY), int(processes))
    except HelixError as error:
        sys.exit(f"helix: {error}")


if __name__ == "__main__":
    main()
