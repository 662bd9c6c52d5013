"""A name server and a clock that a deployment takes for its machine's.

Both want Linux; names want root, who may mount, and the clock a C compiler.
"""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

_PORT = 53
_ADDRESS = "127.0.0.153"  # of the loopback network, where nobody else serves names
_RECORD = bytes.fromhex("c00c 0001 0001 00000000 0004")  # an address follows; not to be kept
_MOUNT = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
_SOURCE = Path(__file__).with_name("clock.c")


class Answering(Enum):
    """The ways in which a name server treats a question."""

    WELL = "well"
    FAILING = "failing"
    SILENT = "silent"


class NameServer:
    """A DNS server by which every name is 127.0.0.1, while it answers ``well``.

    Of several ``addresses`` each question gets the next one.
    """

    def __init__(self, addresses: Sequence[str] = ("127.0.0.1",)) -> None:
        self._addresses = itertools.cycle(map(socket.inet_aton, addresses))
        self.answering = Answering.WELL
        self.asked = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(0.2)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._socket.bind((_ADDRESS, _PORT))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    def prefix(self, folder: Path) -> tuple[str, ...]:
        """The words in front of a command that is to ask this server for names."""
        configuration = folder / "resolv.conf"
        configuration.write_text(f"nameserver {_ADDRESS}\n")
        return "unshare", "--mount", "sh", "-c", _MOUNT, str(configuration)

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                question, client = self._socket.recvfrom(512)
            except TimeoutError:
                continue
            self.asked += 1
            if self.answering is not Answering.SILENT:
                self._socket.sendto(self._answer(question), client)

    def _answer(self, question: bytes) -> bytes:
        """RFC 1035: the question with an answer of type A, none of another, or SERVFAIL."""
        asks_for_a = question[12:].split(b"\0", 1)[1][:2] == b"\0\1"
        found = self.answering is Answering.WELL and asks_for_a
        code = b"\x81\x82" if self.answering is Answering.FAILING else b"\x81\x80"
        end = 12 + question[12:].index(b"\0") + 5
        counts = b"\0\1" + (b"\0\1" if found else b"\0\0") + bytes(4)
        return (
            question[:2]
            + code
            + counts
            + question[12:end]
            + (_RECORD + next(self._addresses) if found else b"")
        )


class Clock:
    """A time of day that may be set, of processes with its ``variables`` and of all they start."""

    def __init__(self, folder: Path) -> None:
        self._file, self._library = folder / "clock", folder / "clock.so"
        self._file.write_bytes(bytes(8))
        self._file.chmod(0o644)
        compiled = subprocess.run(
            ["cc", "-shared", "-fPIC", "-O2", "-o", str(self._library), str(_SOURCE)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert compiled.returncode == 0, f"a C compiler is wanted, as gcc: {compiled.stderr}"

    @classmethod
    @contextmanager
    def set_up(cls) -> Iterator[Self]:
        """A clock in a folder that Postgres may read, which runs as another user."""
        with TemporaryDirectory(prefix="helix-clock-") as folder:
            Path(folder).chmod(0o755)
            yield cls(Path(folder))

    @property
    def variables(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "CLOCK_FILE": str(self._file)}

    @contextmanager
    def wrong_by(self, seconds: int) -> Iterator[None]:
        """Set it wrong by so many seconds, and right again at the block's end."""
        with self._file.open("r+b", buffering=0) as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))
            try:
                yield
            finally:
                file.seek(0)
                file.write(bytes(8))
