"""A process for the supervisor that answers its pid on the port, and loads nothing else.

Where the variable REFUSE names a file that is there, it does not start.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from threading import Thread


def main() -> None:
    """Take the arguments of helix.commands.server.process."""
    _, _, _, line_descriptor, descriptor = sys.argv[1:]
    if Path(os.environ["REFUSE"]).exists():
        sys.exit(3)
    line = socket.socket(fileno=int(line_descriptor))
    listener = socket.socket(fileno=int(descriptor))
    listener.listen(64)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    Thread(target=lambda: line.recv(1) or os._exit(0), daemon=True).start()
    line.sendall(b"1")
    while True:
        connection, _ = listener.accept()
        connection.sendall(str(os.getpid()).encode())
        connection.close()


if __name__ == "__main__":
    main()
