"""One sync: its cost where nothing changed, its lock, and who may read what it brings in."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.library.errors import Conflict
from helix.library.runs import begin_run, finish_run
from helix.library.sources import change_source, start_sync
from helix.library.spaces import add_space
from pipelines.runs.path_plan import RunCancelled
from pipelines.sources.base import Entry, SourceError
from pipelines.sources.stored_source import source_lock
from pipelines.sources.sync import plan_source
from tests.support.fake_embedder import opened
from tests.support.scripted_source import QuickSyncs, ScriptedSource
from tests.support.worker_runs import settings

MANY = 2000


def _crates(count: int) -> dict[str, bytes]:
    return {f"{n}.md": f"Crate {n}.".encode() for n in range(count)}


@contextmanager
def _counted(patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that this process sends meanwhile."""
    sent: list[str] = []
    for name in ("execute", "executemany"):
        plain = getattr(psycopg.Cursor, name)

        def counting(self: Any, query: Any, *given: Any, _plain: Any = plain, **more: Any) -> Any:
            sent.append(str(query))
            return _plain(self, query, *given, **more)

        patch.setattr(psycopg.Cursor, name, counting)
    yield sent
    patch.undo()


async def test_nothing_changed_costs_a_listing_and_a_change_one_read(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource(_crates(40))
    async with opened(database_url) as store:
        syncs = QuickSyncs(store, settings(database_url), source, monkeypatch)
        assert syncs.sync() == ""
        source.reads.clear()
        assert syncs.sync() == ""
        assert source.reads == []
        source.files["7.md"] = b"Another crate."
        assert syncs.sync() == ""
        assert source.reads == ["7.md"]


async def test_a_thousand_unchanged_files_take_few_statements(database_url: str) -> None:
    source = ScriptedSource(_crates(3))
    with pytest.MonkeyPatch.context() as patch:
        async with opened(database_url) as store:
            syncs = QuickSyncs(store, settings(database_url), source, patch)
            syncs.sync()
            with store.connection() as connection:  # as many more as if they had been brought in
                connection.execute(
                    "INSERT INTO documents (title, source_uri, content_hash, recipe)"
                    " SELECT 'T', 'source:' || %(id)s || '/more/' || n || '.md', content_hash,"
                    " recipe FROM generate_series(1, %(n)s) n, documents"
                    " WHERE source_uri LIKE '%%/0.md'",
                    {"id": syncs.id, "n": MANY},
                )
                connection.execute(
                    "INSERT INTO source_entries (source_id, key, size, etag, content_hash, coming,"
                    " document_id) SELECT e.source_id, substring(d.source_uri from '/(.*)'),"
                    " e.size, e.etag, e.content_hash, false, d.id FROM source_entries e,"
                    " documents d WHERE e.key = '0.md' AND d.source_uri LIKE '%%/more/%%'"
                )
            source.files |= {f"more/{n}.md": source.files["0.md"] for n in range(1, MANY + 1)}
            source.reads.clear()
            with pytest.MonkeyPatch.context() as counting, _counted(counting) as sent:
                assert syncs.sync() == ""
            assert source.reads == []
            assert len(sent) <= 20 * MANY / 1000


async def test_two_syncs_of_one_source_are_one(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url) as store:
        syncs = QuickSyncs(store, settings(database_url), ScriptedSource({}), monkeypatch)
        with store.connection() as connection:
            first = start_sync(connection, DEFAULT_TENANT, syncs.id)
            assert start_sync(connection, DEFAULT_TENANT, syncs.id) == (first[0], True)
            with pytest.raises(Conflict, match=f"run {first[0]} syncs this source"):
                start_sync(connection, DEFAULT_TENANT, syncs.id, yes=True)
            finish_run(connection, first[0], "done")
            assert start_sync(connection, DEFAULT_TENANT, syncs.id, yes=True)[1] is False


async def test_a_sync_waits_for_one_whose_worker_was_taken_for_dead(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource(_crates(2))
    async with opened(database_url) as store:
        syncs = QuickSyncs(store, settings(database_url), source, monkeypatch)
        with source_lock(database_url, DEFAULT_TENANT, syncs.id, lambda: None):
            thread = threading.Thread(target=syncs.sync)
            thread.start()
            time.sleep(0.3)
            assert source.reads == [] and thread.is_alive()
        thread.join(30)
        assert len(syncs.documents()) == 2


async def test_a_sync_that_waits_can_be_cancelled(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url) as store:
        syncs = QuickSyncs(store, settings(database_url), ScriptedSource({}), monkeypatch)
        with store.connection() as connection:
            run_id, _ = start_sync(connection, DEFAULT_TENANT, syncs.id)
            run = begin_run(connection, run_id)
            finish_run(connection, run_id, "cancelled")
        assert run is not None
        waited_for = source_lock(database_url, DEFAULT_TENANT, syncs.id, lambda: None)
        with waited_for, pytest.raises(RunCancelled):
            plan_source(syncs.settings, store, run)


async def test_who_may_read_a_file_at_its_source_reads_it_here(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource(_crates(3))
    source.readers = {"0.md": ("group:board",), "1.md": ("group:board", "everyone"), "2.md": ()}
    async with opened(database_url) as store:
        with store.connection() as connection:
            board = add_space(connection, DEFAULT_TENANT, "Board")
            crew = add_space(connection, DEFAULT_TENANT, "Crew")
        mapped = {"group:board": [board], "everyone": [crew], "group:none": [99]}
        syncs = QuickSyncs(store, settings(database_url), source, monkeypatch, group_map=mapped)
        assert syncs.sync() == ""
        assert syncs.spaces() == {"0.md": [board], "1.md": sorted([board, crew])}
        source.reads.clear()
        source.readers = {"0.md": ("everyone",), "1.md": (), "2.md": ("group:board",)}
        assert syncs.sync() == ""
        assert syncs.spaces() == {"0.md": [crew], "2.md": [board]}
        assert source.reads == ["2.md"]  # who may read changed, and no byte


async def test_who_may_not_read_loses_it_whatever_else_is_amiss(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource(_crates(4))
    source.readers = dict.fromkeys(source.files, ("group:board", "everyone"))
    async with opened(database_url) as store:
        with store.connection() as connection:
            board, crew = (add_space(connection, DEFAULT_TENANT, n) for n in ("Board", "Crew"))
        mapped = {"group:board": [board], "everyone": [crew]}
        syncs = QuickSyncs(
            store, settings(database_url), source, monkeypatch, group_map=mapped,
            follow_removals=False,
        )  # fmt: skip
        assert syncs.sync() == ""

        def short(entries: list[Entry]) -> Iterator[Entry]:
            yield from entries[:3]
            raise SourceError("half a listing")

        source.listing = short
        source.readers = {**source.readers, "0.md": (), "1.md": ("group:board",)}
        assert syncs.sync() == "half a listing"
        both = sorted([board, crew])
        assert syncs.spaces() == {"1.md": [board], "2.md": both, "3.md": both}

        # its bytes are others, and cannot be had
        source.listing = iter
        source.files["2.md"] = b"Another crate."
        source.readers["2.md"] = ("everyone",)
        monkeypatch.setattr(source, "read", _unreadable)
        syncs.sync()
        assert syncs.spaces() == {"1.md": [board], "2.md": [crew], "3.md": both}


async def test_who_may_not_read_loses_what_there_is_no_room_for(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource(_crates(2))
    source.readers = dict.fromkeys(source.files, ("group:board", "everyone"))
    async with opened(database_url) as store:
        with store.connection() as connection:
            board, crew = (add_space(connection, DEFAULT_TENANT, n) for n in ("Board", "Crew"))
        mapped = {"group:board": [board], "everyone": [crew]}
        held = settings(database_url).model_copy(update={"tenant_mb": 1})
        syncs = QuickSyncs(store, held, source, monkeypatch, group_map=mapped)
        assert syncs.sync() == ""
        source.files["0.md"] = b"A crate of more than there is room for. " * 40_000
        source.readers = {**source.readers, "0.md": ("group:board",)}
        assert syncs.sync().startswith("1 files wait for room")
        assert syncs.spaces() == {"0.md": [board], "1.md": sorted([board, crew])}


def _unreadable(entry: Entry) -> bytes:
    raise SourceError("it cannot be read")


async def test_another_map_of_readers_holds_from_the_next_sync(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource(_crates(2))
    source.readers = {"0.md": ("group:board",), "1.md": ("everyone",)}
    async with opened(database_url) as store:
        with store.connection() as connection:
            board, crew = (add_space(connection, DEFAULT_TENANT, n) for n in ("Board", "Crew"))
        mapped = {"group:board": [board], "everyone": [crew]}
        syncs = QuickSyncs(store, settings(database_url), source, monkeypatch, group_map=mapped)
        assert syncs.sync() == ""
        with store.connection() as connection:
            other = {"group_map": {"group:board": [crew]}}
            change_source(connection, DEFAULT_TENANT, syncs.id, other, trusted=True)
        source.reads.clear()
        assert syncs.sync() == ""
        assert (syncs.spaces(), source.reads) == ({"0.md": [crew]}, [])


async def test_what_a_tenant_has_no_room_for_waits_at_its_source(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ScriptedSource(_crates(5))
    full = "3 files wait for room: too many documents of this tenant: the limit is 2"
    async with opened(database_url) as store:
        held = settings(database_url).model_copy(update={"tenant_documents": 2})
        syncs = QuickSyncs(store, held, source, monkeypatch)
        assert syncs.sync().startswith(full)
        assert len(syncs.documents()) == 2
        with store.connection() as connection:
            assert (
                connection.execute("SELECT last_error FROM sources")
                .fetchall()[0][0]
                .startswith(full)
            )
        del source.files[next(iter(syncs.documents()))]  # what went makes room
        assert "wait for room" in syncs.sync(yes=True)
        source.files["0.md" if "0.md" in source.files else "1.md"] = b"Changed, and no longer."
        assert syncs.sync(yes=True).startswith("2 files wait for room")
        syncs.settings = settings(database_url)
        assert syncs.sync() == ""
        assert syncs.documents().keys() == source.files.keys()


async def test_what_is_too_large_holds_back_nothing_that_fits(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = b"A crate of more than there is room for. " * 40_000
    source = ScriptedSource({"0.md": large, "1.md": b"Crate 1.", "2.md": large, "3.md": b"Crate."})
    async with opened(database_url) as store:
        held = settings(database_url).model_copy(update={"tenant_mb": 1})
        syncs = QuickSyncs(store, held, source, monkeypatch)
        said = "too many bytes of documents of this tenant: the limit is 1 (HELIX_TENANT_MB)"
        for _ in range(2):
            assert syncs.sync() == f"2 files wait for room: {said}"
            assert syncs.documents().keys() == {"1.md", "3.md"}
            assert syncs.unread() == dict.fromkeys(("0.md", "2.md"), f"waits for room: {said}")
        assert source.reads.count("2.md") == 0  # the listing says how large it is
        source.files["3.md"] = large  # what is there stays, until there is room for the next
        assert syncs.sync().startswith("3 files")
        assert syncs.unread().keys() == {"0.md", "2.md", "3.md"}
        source.files["3.md"] = b"Crate."
        assert syncs.sync().startswith("2 files")
        assert syncs.unread().keys() == {"0.md", "2.md"}
        syncs.settings = settings(database_url)
        assert (syncs.sync(), syncs.unread()) == ("", {})
        assert syncs.documents().keys() == source.files.keys()
