"""`helix serve` as a process with workers of its own, and a site that serves from a thread."""

from __future__ import annotations

import asyncio
import queue
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.support.service_process import Service, environment, eventually
from tests.support.warm_processes import Process
from tests.support.web_site import Route, Website, serving

_LISTENING = re.compile(r"running on (http://127\.0\.0\.1:\d+)")


@contextmanager
def served(log: Path, *command: str, **values: str) -> Iterator[Service]:
    """`helix serve --port 0`, or another ``command``, listening while the block lasts."""
    with log.open("wb") as output:
        process = Process(
            "helix.cli", *(command or ("serve",)), "--port", "0",
            cwd=log.parent, env=environment(**values), output=output,
        )  # fmt: skip
    try:

        def listening() -> bool:
            assert process.poll() is None, log.read_text()
            return _LISTENING.search(log.read_text()) is not None

        assert eventually(listening, 300), log.read_text()
        found = _LISTENING.search(log.read_text())
        assert found is not None
        yield Service(found[1], process, log)
    finally:
        process.terminate()
        try:
            process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def children(process: Process) -> list[psutil.Process]:
    """The processes that ``process`` started, and theirs."""
    return list(psutil.Process(process.pid).children(recursive=True))


def ended(processes: list[psutil.Process]) -> bool:
    """True where none of them runs any more; one that nobody has waited for does not run either."""
    return not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)


@contextmanager
def website(routes: dict[str, Route]) -> Iterator[Website]:
    """A site on loopback that serves from a thread, for code that is not asynchronous."""
    ready: queue.SimpleQueue[Website] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with serving(routes) as site:
            ready.put(site)
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    try:
        yield ready.get(timeout=60)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=60)
        loop.close()
