"""llama.cpp's server over a real model: shared, watched, and never left behind."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import httpx
import psutil
import pytest

from db.embedded_postgres import open_lock, try_lock
from evals.real.models import SMALL, model_file
from helix.errors import SettingsError, UpstreamError
from helix.providers.local_models import supervisor as watching
from helix.providers.local_models.llama_server import parameters
from helix.providers.local_models.shared_server import (
    Address,
    ServerOptions,
    SharedServer,
    runtime_folder,
)
from tests.support.busy_machine import bound

pytestmark = pytest.mark.processes

SECONDS = 90.0
PROGRAM = """
import sys, time
from pathlib import Path
from helix.providers.local_models.shared_server import ServerOptions, SharedServer
options = ServerOptions(sys.argv[2], context=512, slots=1, threads=1)
print(SharedServer(options, Path(sys.argv[1])).ensure(90).url, flush=True)
time.sleep(600)
"""


def options(model: Path | None = None, memory_mb: int = 0) -> ServerOptions:
    return ServerOptions(str(model or model_file(SMALL).resolve()), 512, 1, 1, memory_mb)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SharedServer]:
    made = SharedServer(options(), tmp_path)
    yield made
    made.close()
    assert until(lambda: not processes(tmp_path)), "a process was left behind"


def processes(folder: Path) -> dict[str, psutil.Process]:
    """The supervisor and the server of ``folder``, by their module's name."""
    found: dict[str, psutil.Process] = {}
    for supervisor in psutil.process_iter(["cmdline"]):
        words = supervisor.info["cmdline"] or []
        if "helix.providers.local_models.supervisor" in words and str(folder) in " ".join(words):
            found["supervisor"] = supervisor
            with suppress(psutil.NoSuchProcess):  # it ended since it was listed
                for child in supervisor.children():
                    found["server"] = child
    return found


def until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + bound(20.0)
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def answers(address: Address, key: str | None = None) -> int:
    """The status of a request for the list of models."""
    headers = {"Authorization": f"Bearer {address.key if key is None else key}"}
    return httpx.get(f"{address.url}/v1/models", headers=headers).status_code


def test_a_server_starts_when_it_is_first_asked_for_and_needs_its_key(
    server: SharedServer, tmp_path: Path
) -> None:
    assert server.address() is None and not processes(tmp_path)
    address = server.ensure(SECONDS)
    assert address == server.address() == server.ensure(0)
    assert address.url.startswith("http://127.0.0.1:")
    assert (answers(address), answers(address, "wrong")) == (200, 401)


def test_two_processes_share_it_and_it_ends_with_the_last_though_that_is_killed(
    server: SharedServer, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), options().model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        address = server.ensure(SECONDS)
        assert other.stdout.readline().strip() == address.url
        server.close()
        time.sleep(1.5)  # longer than its supervisor takes to look
        assert answers(address) == 200
        other.send_signal(signal.SIGKILL)
    assert until(lambda: not processes(tmp_path))


def test_a_server_that_is_killed_is_started_again(server: SharedServer, tmp_path: Path) -> None:
    former = server.ensure(SECONDS)
    processes(tmp_path)["server"].kill()
    assert until(lambda: server.address() is None)
    assert answers(server.ensure(SECONDS)) == 200
    assert server.address() != former  # it has another key


def test_a_supervisor_that_is_killed_takes_the_server_along(
    server: SharedServer, tmp_path: Path
) -> None:
    server.ensure(SECONDS)
    found = processes(tmp_path)
    found["supervisor"].kill()
    assert until(lambda: not found["server"].is_running())
    assert answers(server.ensure(SECONDS)) == 200


def test_a_supervisor_that_is_killed_takes_along_a_server_that_still_loads(
    server: SharedServer, tmp_path: Path
) -> None:
    with pytest.raises(UpstreamError, match="is being loaded: try again in a moment"):
        server.ensure(0.05)
    assert until(lambda: "server" in processes(tmp_path))
    found = processes(tmp_path)
    found["supervisor"].kill()
    assert until(lambda: not found["server"].is_running())


def test_a_server_that_is_killed_while_it_loads_is_loaded_again(
    server: SharedServer, tmp_path: Path
) -> None:
    with pytest.raises(UpstreamError, match="is being loaded"):
        server.ensure(0.05)
    assert until(lambda: "server" in processes(tmp_path))
    processes(tmp_path)["server"].kill()
    assert answers(server.ensure(SECONDS)) == 200


@pytest.mark.parametrize(
    ("settled", "pauses"), [(float("inf"), [0.0, 0.1, 0.2, 0.4]), (-1.0, [0.0] * 4)]
)
def test_a_server_is_started_again_at_once_and_later_where_it_ends_at_once(
    settled: float, pauses: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ending(watching.Supervisor):
        _key = "none"

        def _started(self) -> subprocess.Popen[bytes]:
            told = [sys.executable, "-c", "print('http://127.0.0.1:1')"]
            return subprocess.Popen(told, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def _abandoned_within(self, seconds: float) -> bool:
            seen.append(seconds)
            return len(seen) == len(pauses)

    seen: list[float] = []
    monkeypatch.setattr(watching, "_SETTLED_SECONDS", settled)
    user, lock = open_lock(tmp_path / "users.lock"), open_lock(tmp_path / "supervisor.lock")
    assert try_lock(user, exclusive=False)
    Ending(tmp_path, lock).run()
    assert seen == pauses


def test_the_memory_of_a_graphics_processor_is_looked_at_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import xllamacpp

    asked = {**asdict(options()), "key": "none"}
    kinds = xllamacpp.ggml_backend_dev_type
    for kind, fits in [("CPU", False), ("ACCEL", False), ("GPU", True), ("IGPU", True)]:
        device = {"type": getattr(kinds, f"GGML_BACKEND_DEVICE_TYPE_{kind}")}
        monkeypatch.setattr(xllamacpp, "get_device_info", lambda device=device: [device])
        assert parameters(asked).fit_params is fits


async def test_waiting_for_it_does_not_block_the_event_loop(server: SharedServer) -> None:
    waiting = [asyncio.create_task(server.ensure_async(SECONDS)) for _ in range(50)]
    looks = 0
    while not waiting[0].done():
        await asyncio.to_thread(time.sleep, 0)
        looks += 1
    assert looks > 1
    assert len(set(await asyncio.gather(*waiting))) == 1


def test_a_file_that_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with model_file(SMALL).open("rb") as whole:
        cut.write_bytes(whole.read(3_000_000))
    server = SharedServer(options(cut), tmp_path)
    with pytest.raises(UpstreamError, match=r"cut\.gguf cannot be loaded: .*not within the file"):
        server.ensure(SECONDS)
    server.close()
    assert until(lambda: not processes(tmp_path))


def test_a_model_that_memory_does_not_hold_is_one_line(tmp_path: Path) -> None:
    server = SharedServer(options(memory_mb=130), tmp_path)
    with pytest.raises(UpstreamError, match=r"cannot be loaded: .*memory"):
        server.ensure(SECONDS)
    server.close()


def test_a_folder_that_others_may_look_into_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert runtime_folder() == tmp_path / "helix"
    (tmp_path / "helix").chmod(0o755)
    with pytest.raises(SettingsError, match="must be this user's alone"):
        runtime_folder()
