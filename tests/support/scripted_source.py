"""A source that does as a test says: its files, and the ways in which it fails; and quick syncs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest

import pipelines.sources.sync
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import HelixError
from helix.library.runs import begin_run, finish_run
from helix.library.sources import add_source, start_sync, told_of
from helix.settings import Settings
from helix.store import ChunkStore
from pipelines.files.recipe import RECIPE
from pipelines.runs.run_steps import end_sync
from pipelines.sources.base import Entry, EntryGone
from pipelines.sources.sync import plan_source
from tests.support.fake_embedder import record, write


@dataclass
class ScriptedSource:
    """Files by key. ``listing`` changes what is listed, ``asked`` what ``is_there`` says."""

    files: dict[str, bytes]
    listing: Callable[[list[Entry]], Iterator[Entry]] = iter
    asked: Callable[[str, bool], bool] = lambda _, there: there
    readers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)

    def entries(self) -> Iterator[Entry]:
        return self.listing(
            [
                Entry(key, len(data), etag=sha256(data).hexdigest(), readers=self.readers.get(key))
                for key, data in self.files.items()
            ]
        )

    def read(self, entry: Entry) -> bytes:
        self.reads.append(entry.key)
        if entry.key not in self.files:
            raise EntryGone("gone")
        return self.files[entry.key]

    def is_there(self, key: str) -> bool:
        return self.asked(key, key in self.files)

    def close(self) -> None:
        """Nothing is open."""


class QuickSyncs:
    """Syncs of a scripted source without a worker: what would be embedded is written as it is."""

    def __init__(
        self, store: ChunkStore, settings: Settings, source: ScriptedSource,
        patch: pytest.MonkeyPatch, **given: Any,
    ) -> None:  # fmt: skip
        self.store, self.settings, self.source = store, settings, source
        patch.setattr(pipelines.sources.sync, "open_stored_source", self._opened)
        self.failing: HelixError | None = None
        with store.connection() as connection:
            whole = {"name": "Scripted", "kind": "folder", "address": "/nowhere", **given}
            self.id = add_source(connection, DEFAULT_TENANT, whole, trusted=True)

    def _opened(self, *_: object) -> ScriptedSource:
        if self.failing:
            raise self.failing
        return self.source

    def sync(self, **options: bool) -> str:
        """One sync to its end; its error."""
        with self.store.connection() as connection:
            run_id, _ = start_sync(connection, DEFAULT_TENANT, self.id, **options)
            run = begin_run(connection, run_id)
        assert run is not None
        error: str | None = None
        try:
            plan_source(self.settings, self.store, run)
            self._write_files(run_id)
        except HelixError as problem:
            error = str(problem)
        with self.store.connection() as connection:
            error = error if error is not None else end_sync(connection, run_id)
            finish_run(connection, run_id, "failed" if error else "done", error or "")
        return error or ""

    def _write_files(self, run_id: int) -> None:
        """Write the documents of the run's files, with the spaces that they are to have."""
        with self.store.connection() as connection:
            files = connection.execute(
                "SELECT source_uri, spaces FROM run_files WHERE run_id = %s AND status = 'queued'",
                (run_id,),
            ).fetchall()
        for uri, spaces in files:
            data = self.source.files[uri.partition("/")[2]]
            write(self.store, record(uri, data.decode()))
            with self.store.connection() as connection:
                connection.execute(
                    "UPDATE documents SET recipe = %s, spaces = %s WHERE source_uri = %s",
                    (RECIPE, spaces, uri),
                )

    def documents(self) -> dict[str, int]:
        """The id of the document of each key."""
        with self.store.connection() as connection:
            found = connection.execute("SELECT source_uri, id FROM documents ORDER BY id")
            return {uri.partition("/")[2]: number for uri, number in found}

    def spaces(self) -> dict[str, list[int]]:
        """The spaces of the document of each key."""
        with self.store.connection() as connection:
            found = connection.execute("SELECT source_uri, spaces FROM documents")
            return {uri.partition("/")[2]: spaces for uri, spaces in found}

    def unread(self) -> dict[str, str]:
        """By key, why what the source lists is not read."""
        with self.store.connection() as connection:
            told = told_of(connection, DEFAULT_TENANT, self.id)
        return {str(row["key"]): str(row["reason"]) for row in told if row["reason"]}
