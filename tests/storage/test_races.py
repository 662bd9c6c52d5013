"""Writers and a deleter of the same documents at once: nothing fails, twice, or half there."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.support.fake_embedder import opened, record, rows, write

SOURCES = ("a.txt",)
ROUNDS = 20


async def test_writers_and_a_deleter(database_url: str) -> None:
    async with opened(database_url) as store:
        stop = threading.Event()

        def writer(name: str) -> None:
            session = store.session()
            for i in range(ROUNDS):
                for uri in SOURCES:
                    write(session, record(uri, f"{name} {i} first\n\n{name} {i} second"))

        def deleter() -> None:
            while not stop.is_set():
                for uri in SOURCES:
                    store.delete(uri)
                    time.sleep(0.01)  # so that the writers mostly find it there

        with ThreadPoolExecutor() as pool:
            deleting = pool.submit(deleter)
            writing = [pool.submit(writer, name) for name in ("one", "two", "three")]
            try:
                for each in writing:
                    each.result()
            finally:
                stop.set()
            deleting.result()
        for uri in SOURCES:
            write(store, record(uri, "last first\n\nlast second"))
    stored = rows(database_url, "SELECT source_uri, text FROM documents ORDER BY source_uri")
    assert stored == [(uri, "last first\n\nlast second") for uri in SOURCES]
    whole = (
        "SELECT count(*), bool_and(content = substr(text, start_char + 1, end_char - start_char))"
    )
    counted = rows(database_url, f"{whole} FROM chunks JOIN documents d ON d.id = document_id")
    assert counted == [(2 * len(SOURCES), True)]
