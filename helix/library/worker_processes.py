"""The worker processes that a server starts for itself, and keeps for what is to be ingested.

They are processes and not threads: reading and splitting would stall the answers that stream. The
module they run is named, not imported: ``helix`` does not depend on ``pipelines``.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import SecretStr

from helix.settings import Settings
from helix.telemetry.shared_metrics import FOLDER

MODULE = "pipelines.worker"
STOP_SECONDS = 10.0
_NICER = 5
"""A worker's niceness above the server's: it gives way to answers that are being written."""

_logger = logging.getLogger(__name__)


class WorkerProcesses:
    """Up to ``settings.workers`` workers; they end with the server, even where it is killed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._processes: list[subprocess.Popen[bytes]] = []

    def ensure(self) -> bool:
        """Start the missing workers; returns whether any was started. Never fails a request."""
        started = False
        self._processes = [process for process in self._processes if process.poll() is None]
        for _ in range(self._settings.workers - len(self._processes)):
            try:
                process = subprocess.Popen(  # noqa: S603 - of our own
                    [sys.executable, "-P", "-m", MODULE, "--parent", str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    env=_inherited() | environment_of(self._settings),
                )
            except OSError as error:
                _logger.error("no worker could be started: %s", error.strerror)
                break
            with suppress(OSError):  # it has ended already, and is started again when needed
                own = os.getpriority(os.PRIO_PROCESS, 0)
                os.setpriority(os.PRIO_PROCESS, process.pid, own + _NICER)
            _logger.info("started worker process %d", process.pid)
            self._processes.append(process)
            started = True
        return started

    async def stop(self) -> None:
        """End all workers at once, without blocking the event loop; kill those left after 10 s.

        What they had under way goes on with the next worker.
        """
        processes, self._processes = self._processes, []
        for process in processes:
            process.terminate()
        if processes:
            await asyncio.to_thread(_wait_or_kill, processes)


def _wait_or_kill(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + STOP_SECONDS  # one for all of them
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
    for process in processes:
        process.wait()


def _inherited() -> dict[str, str]:
    """This process's variables, but for that by which a worker would join the server's metrics."""
    return {name: value for name, value in os.environ.items() if name != FOLDER}


def environment_of(settings: Settings) -> dict[str, str]:
    """``settings`` as the variables that they are read from, but for HELIX_OIDC.

    A worker signs nobody in: it needs no provider, nor its secret.
    """
    variables: dict[str, str] = {}
    for name, info in type(settings).model_fields.items():
        value: Any = getattr(settings, name)
        if value is not None and name != "oidc":
            values = value if isinstance(value, tuple) else (value,)
            variables[str(info.alias or name).upper()] = ",".join(map(_text, values))
    return variables


def _text(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
