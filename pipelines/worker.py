"""``python -m pipelines.worker``, `helix worker`: a process that carries out queued runs.

Any number of workers, on one machine or many, share the runs of one database. Each holds an
advisory lock named after itself for as long as it lives; what a worker without its lock had under
way is taken over by another.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from typing import Annotated

import typer

from helix.library.privacy.counter import process_counter
from helix.settings import Settings, load_settings
from helix.storage.garbage_collection import settle
from helix.storage.name_lookups import bound_name_lookups
from helix.telemetry.logs import configure_logging
from pipelines.program import one_line_errors, run
from pipelines.runs.worker import FILES_AT_ONCE, open_worker
from pipelines.sources.schedule import Schedule

_logger = logging.getLogger("pipelines.worker")  # run as a program it is __main__


def work(
    files_at_once: Annotated[
        int,
        typer.Option(
            "--files",
            min=1,
            max=256,
            help="Files of a tenant under way at once; twice that of all.",
        ),
    ] = FILES_AT_ONCE,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when there is nothing more to do.")
    ] = False,
    parent: Annotated[int | None, typer.Option("--parent", hidden=True)] = None,
) -> None:
    """Carry out runs until SIGTERM or Ctrl-C; several workers share them.

    What is under way then goes on with another worker, or with the next one that starts.
    """
    with one_line_errors("worker"):
        settings = load_settings()
        configure_logging(settings.log_level, settings.log_format)
        process_counter()  # from the first connection on
        asyncio.run(_work(settings, files_at_once, until_idle, parent))


async def _work(
    settings: Settings, files_at_once: int, until_idle: bool, parent: int | None
) -> None:
    bound_name_lookups(asyncio.get_running_loop())
    async with open_worker(settings, files_at_once=files_at_once, until_idle=until_idle) as (
        worker,
        attending,
    ):
        settle()
        _logger.info("worker %s is ready", worker.name)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, attending.cancel)
        if not until_idle:
            scheduling = asyncio.create_task(Schedule(worker).attend())
            attending.add_done_callback(lambda _: scheduling.cancel())
        if parent is not None:
            watching = asyncio.create_task(_end_with(parent, attending))
            attending.add_done_callback(lambda _: watching.cancel())
        with suppress(asyncio.CancelledError):
            await attending


async def _end_with(parent: int, attending: asyncio.Task[None]) -> None:
    """End when the server that started this worker is gone, killed as it may be."""
    while os.getppid() == parent:  # noqa: ASYNC110 - nobody tells of that
        await asyncio.sleep(1.0)
    attending.cancel()


if __name__ == "__main__":
    run(work)
