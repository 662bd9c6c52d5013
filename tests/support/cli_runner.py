"""The ``helix`` command in this process: for what needs no process of its own, which takes 2 s."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import tempfile
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from helix.cli import cli
from tests.support.service_process import environment


def helix(
    *arguments: str, stdin: str | None = None, **values: str
) -> subprocess.CompletedProcess[str]:
    """Run ``helix …`` as ``service_process.run`` does; an error that it lets out is this test's."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _set(values), _logs():
        done = CliRunner().invoke(cli, arguments, stdin, prog_name="helix")
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


@contextlib.contextmanager
def _set(values: dict[str, str]) -> Iterator[None]:
    """Helix's variables are ``values`` and no others."""
    wanted = environment(**values)
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - set(wanted):
            patch.delenv(name)
        for name, value in wanted.items():
            patch.setenv(name, value)
        yield


@contextlib.contextmanager
def _logs() -> Iterator[None]:
    """Logging as it was, afterwards."""
    loggers = [logging.getLogger(name) for name in ("helix", "pipelines")]
    before = [(logger.level, list(logger.handlers)) for logger in loggers]
    try:
        yield
    finally:
        for logger, (level, handlers) in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.handlers[:] = handlers
