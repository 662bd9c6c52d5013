"""The run that has nothing to do, seen before anything heavy is loaded.

Going over a folder that has not changed is what a scheduled ingest mostly does: without embedder,
LlamaIndex and durable engine it takes a third of the time.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow

from helix.database import open_url
from helix.errors import StoreUnavailable
from helix.fingerprints import fingerprints
from helix.library.runs import NewFile, add_files, create_run, find_open_run, finish_run
from helix.settings import Settings
from pipelines.planning import look
from pipelines.rows import set_unchanged
from pipelines.scan import Scan, scan


async def nothing_to_do(
    settings: Settings, options: dict[str, Any], key: str, tenant: str
) -> Scan | None:
    """What was scanned, if all of it is stored as it is; the run is then on record as done.

    None: there is something to do, to go on with, or to complain of.

    Raises:
        StoreUnavailable: as open_url does.
    """
    largest = settings.max_file_mb * 2**20
    async with open_url(settings) as url:
        try:
            return await asyncio.to_thread(_looked, url, options, key, largest, tenant)
        except psycopg.Error as error:
            raise StoreUnavailable("the database does not answer; try again") from error


def _looked(url: str, options: dict[str, Any], key: str, largest: int, tenant: str) -> Scan | None:
    with psycopg.connect(url) as connection:
        if find_open_run(connection, key, tenant) is not None:
            return None
        walked = scan(options["paths"], Path(options["base"]))
        if walked.problems or not _all_unchanged(connection, walked, options, largest, tenant):
            return None
        _record(connection, walked, options, tenant)
    return walked


def _all_unchanged(
    connection: Connection[TupleRow],
    walked: Scan,
    options: dict[str, Any],
    largest: int,
    tenant: str,
) -> bool:
    stored = fingerprints(connection, tenant, [source.source_uri for source in walked.sources])
    return all(
        source.source_uri in stored
        and look(source, stored[source.source_uri], options.get("title"), largest).unchanged
        for source in walked.sources
    )


def _record(
    connection: Connection[TupleRow], walked: Scan, options: dict[str, Any], tenant: str
) -> None:
    run_id = create_run(connection, "paths", options, tenant=tenant)
    add_files(connection, run_id, [NewFile(source.source_uri) for source in walked.sources])
    set_unchanged(connection, run_id, range(len(walked.sources)))
    finish_run(connection, run_id, "done")
