"""The worker processes that a server starts for itself, once there is something to ingest.

They are processes and not threads: reading and splitting would stall the answers that stream. The
module they run is named, not imported: what serves does not depend on what writes.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from typing import Any

from pydantic import SecretStr

from helix.settings import Settings

MODULE = "pipelines.worker"
_STOP_SECONDS = 10.0

_logger = logging.getLogger(__name__)


class WorkerProcesses:
    """Up to ``settings.workers`` workers; they end with the server, however that ends."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._processes: list[subprocess.Popen[bytes]] = []

    def ensure(self) -> bool:
        """Start those that are missing; whether any was. Never fails a request."""
        started = False
        self._processes = [process for process in self._processes if process.poll() is None]
        for _ in range(self._settings.workers - len(self._processes)):
            try:
                process = subprocess.Popen(  # noqa: S603 - of our own
                    [sys.executable, "-m", MODULE, "--parent", str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, **environment_of(self._settings)},
                )
            except OSError as error:
                _logger.error("no worker could be started: %s", error.strerror)
                break
            _logger.info("started worker process %d", process.pid)
            self._processes.append(process)
            started = True
        return started

    def stop(self) -> None:
        """End them; what they had under way goes on with the next worker."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes = []


def environment_of(settings: Settings) -> dict[str, str]:
    """``settings`` as the variables that they are read from."""
    variables: dict[str, str] = {}
    for name, info in type(settings).model_fields.items():
        value: Any = getattr(settings, name)
        if value is None:
            continue
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        elif isinstance(value, tuple):
            value = ",".join(value)
        variables[str(info.alias or name).upper()] = str(value)
    return variables
