"""The application served from this process on a loopback port, and documents made ready by hand."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import uvicorn
from psycopg.types.json import Jsonb
from starlette.types import ASGIApp

from helix.app import create_app
from helix.overload.connections import LimitedConnection
from helix.settings import load_settings

_numbers = itertools.count()
OFFLINE: dict[str, object] = {"llm": "offline", "embedder": "offline", "max_file_mb": 1}


@contextmanager
def emptied(url: str) -> Iterator[psycopg.Connection]:
    """A connection, and afterwards a database without documents and runs."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection
        connection.execute(
            "TRUNCATE documents, runs, run_files, files, chunks, embedding_cache CASCADE"
        )


@contextmanager
def live(database_url: str, **settings: object) -> Iterator[httpx.Client]:
    """A client of the application over ``database_url``, with no worker behind it."""
    # A request's line comes behind its answer, and would be among what the next command prints.
    values = {**OFFLINE, "workers": 0, "log_level": "warning", **settings}
    application = create_app(load_settings(database_url=database_url, **values))
    config = uvicorn.Config(
        application, port=0, http=LimitedConnection, log_level="warning", access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(timeout=30)


@contextmanager
def limited(application: ASGIApp, **options: Any) -> Iterator[uvicorn.Server]:
    """A server of ``application`` with the limits of connections, in a thread; ``options`` are
    uvicorn's."""
    config = uvicorn.Config(
        application, port=0, http=LimitedConnection, lifespan="off", log_level="critical", **options
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield running
    running.should_exit = True
    thread.join(timeout=10)
    assert not thread.is_alive()


def make_ready(
    connection: psycopg.Connection,
    document_id: int,
    text: str,
    slices: list[tuple[int, int]],
    page: int | None = 1,
) -> None:
    """Write what a worker would: the text, an outline of one section, a chunk for each slice."""
    section = {"start": 0, "end": len(text), "page": page, "heading_path": ["Top"], "label": "p"}
    connection.execute(
        "UPDATE documents SET status = 'ready', text = %s, outline = %s WHERE id = %s",
        (text, Jsonb([section]), document_id),
    )
    for ordinal, (start, end) in enumerate(slices):
        metadata = {
            "document_id": str(document_id), "ordinal": ordinal, "start_char": start,
            "end_char": end, "heading_path": ["Top"], "label": f"page {page}",
            "embedding_key": f"key-{document_id}-{ordinal}",
        }  # fmt: skip
        if page is not None:
            metadata["page"] = page
        connection.execute(
            "INSERT INTO chunks (node_id, content, embedding, metadata_)"
            " VALUES (%s, %s, array_fill(0.1::real, ARRAY[1536])::vector, %s)",
            (f"{document_id}-{ordinal}", text[start:end], Jsonb(metadata)),
        )


def end_run(connection: psycopg.Connection, run_id: int) -> None:
    """End a run and its files as a worker does that has added them all."""
    connection.execute(
        "UPDATE run_files SET status = 'added', file_hash = NULL WHERE run_id = %s", (run_id,)
    )
    connection.execute("UPDATE runs SET status = 'done' WHERE id = %s", (run_id,))


def new_content() -> bytes:
    return f"These are the words of text number {next(_numbers)}.\n".encode()


def upload(client: httpx.Client, data: bytes, name: str = "note.txt", **fields: str) -> Any:
    return client.post("/v1/documents", files={"file": (name, data)}, data=fields)


def upload_ready(client: httpx.Client, sql: psycopg.Connection, data: bytes, **fields: str) -> int:
    """The id of an upload that was read."""
    answer = upload(client, data, **fields).json()
    document_id = int(answer["documents"][0]["id"])
    text = data.decode()
    make_ready(sql, document_id, text, [(0, len(text) // 2), (len(text) // 2, len(text))])
    end_run(sql, answer["run_id"])
    return document_id


def count(sql: psycopg.Connection, table: str) -> int:
    row = sql.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row[0])
