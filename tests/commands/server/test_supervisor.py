"""Several processes on one port: kept, replaced one by one, ended together; their work is none."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from helix.commands.server.process import share_of
from helix.commands.server.supervisor import Supervisor
from helix.errors import SettingsError
from helix.settings import load_settings
from tests.support.live_server import OFFLINE
from tests.support.repository import ROOT
from tests.support.service_process import eventually

pytestmark = pytest.mark.processes

_PARENT = """
import asyncio, socket, sys
from helix.commands.server.supervisor import Supervisor
listener = socket.socket(fileno=int(sys.argv[1]))
supervisor = Supervisor("127.0.0.1", [listener.fileno()], 2, "tests.support.answering_process")
sys.exit(not asyncio.run(supervisor.run(lambda: print("listening", flush=True))))
"""


class Server:
    """A supervisor of two processes, and what they answer."""

    def __init__(self, refuse: Path) -> None:
        self.refuse = refuse
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port = listener.getsockname()[1]
            self.parent = subprocess.Popen(
                [sys.executable, "-c", _PARENT, str(listener.fileno())],
                pass_fds=[listener.fileno()],
                env={**os.environ, "PYTHONPATH": str(ROOT), "REFUSE": str(refuse)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def told(self) -> int | None:
        """The pid of the process that answers now; None where it was killed meanwhile."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=10) as connection:
            pid = connection.makefile().read()
        return int(pid) if pid else None

    def pids(self, enough: Callable[[set[int]], bool] = lambda pids: len(pids) == 2) -> set[int]:
        """The pids that answer once ``enough`` of them do."""
        seen: set[int] = set()

        def look() -> bool:
            seen.update(pid for _ in range(20) if (pid := self.told()))
            return enough(seen)

        assert eventually(look), seen
        return seen

    def is_closed(self) -> bool:
        with suppress(OSError):
            self.told()
            return False
        return True


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "refuse")
    assert running.parent.stdout
    assert running.parent.stdout.readline() == b"listening\n"
    try:
        yield running
    finally:
        running.parent.kill()
        running.parent.communicate()
        assert eventually(running.is_closed)  # a child ends with its parent, however that ends


def test_a_process_that_dies_is_replaced(server: Server) -> None:
    first = server.pids()
    os.kill(min(first), signal.SIGKILL)
    later = server.pids(lambda pids: len(pids - {min(first)}) == 2)
    assert max(first) in later


def test_all_are_replaced_one_by_one_and_then_end(server: Server) -> None:
    first = server.pids()
    server.parent.send_signal(signal.SIGHUP)
    later = server.pids(lambda pids: len(pids - first) == 2) - first
    for pid in first:
        assert eventually(lambda pid=pid: not _lives(pid))  # type: ignore[misc]
    server.parent.terminate()
    assert server.parent.wait(30) == 0
    assert not any(map(_lives, later))


def test_the_former_go_on_where_new_ones_do_not_start(server: Server) -> None:
    first = server.pids()
    server.refuse.touch()
    server.parent.send_signal(signal.SIGHUP)
    assert server.parent.stderr
    assert b"the former go on" in server.parent.stderr.readline()
    assert server.pids() == first


def test_a_server_that_does_not_start_says_so(tmp_path: Path) -> None:
    (tmp_path / "refuse").touch()
    server = Server(tmp_path / "refuse")
    assert server.parent.communicate(timeout=30) == (b"", b"")
    assert server.parent.returncode == 1


def _lives(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def test_each_process_has_its_share_of_the_limits() -> None:
    whole = load_settings(
        database_url="postgresql://u@h/d", HELIX_ANSWERS=7, HELIX_POOL_SIZE=1, HELIX_WORKERS=3,
        HELIX_ANSWERS_WAITING=0, **OFFLINE,
    )  # fmt: skip
    first, second = (share_of(whole, number, 2) for number in range(2))
    assert [first.answers, first.answers_waiting, first.pool_size] == [4, 0, 1]
    assert first.workers == 3
    assert second == first.model_copy(update={"workers": 0})


async def test_without_a_folder_for_temporary_files_one_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(**_: str) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", none)
    with pytest.raises(SettingsError, match="set TMPDIR to one that can"):
        await Supervisor("127.0.0.1", [], 2).run(lambda: None)
