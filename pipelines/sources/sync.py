"""The first step of a sync: list the source, compare, read what changed, mark what is gone.

list -> compare -> read what is new or changed, in batches that become files of the run -> move what
is only called otherwise -> mark what is gone. The run's files are then read and embedded as those
of any run, and pipelines/sources/comparison.py removes at its end what was marked.

Done twice, as after a kill, it adds nothing twice: what a run has already is not added again, and
nothing is removed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from helix.errors import BadRequest, HelixError
from helix.library.runs import RunRow, set_stage
from helix.library.source_entries import (
    KnownEntry,
    Move,
    known_entries,
    mark_all,
    mark_back,
    mark_gone,
    move_entries,
    place_document_of,
    put_entries,
    settle,
    tell_preview,
    tell_sync,
    uri_of,
)
from helix.library.source_secrets import renewed, seal
from helix.library.sources import Source, load_source, reseal, spaces_there
from helix.library.storage_quota import Room
from helix.settings import Settings
from helix.storage.connections import Connected
from helix.storage.stored_documents import give_metadata
from helix.store import ChunkStore
from pipelines.runs.path_plan import RunCancelled, add_files_to_run, is_full
from pipelines.runs.planned_files import FileLimits, PlannedFile
from pipelines.sources.base import Connector, Entry, Recalling
from pipelines.sources.comparison import Comparison, Listing, Removals, compare, confirm, decide
from pipelines.sources.entry_reader import EntryReader, Outcome, SourceAway, put_of, waiting
from pipelines.sources.preview import preview_of, take_moves
from pipelines.sources.selection import ReaderMap, Selection, list_source, name_of
from pipelines.sources.sheets import given_to, sheets_of
from pipelines.sources.stored_source import open_stored_source, source_lock

_BATCH = 500
"""Entries that are written in one transaction, at most."""


def plan_source(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    """Carry out the first step of the sync that ``run`` is.

    Raises:
        RunCancelled, StoreUnavailable: as they say.
        SourceError, SettingsError: the source could not be opened.
    """
    source_id = int(run.options["source_id"])

    def going_on() -> None:
        with store.connection() as connection:
            if not set_stage(connection, run.id, "scan"):
                raise RunCancelled

    with source_lock(store.connections.url, run.tenant, source_id, going_on):
        going_on()
        with store.connection() as connection:
            source = load_source(connection, run.tenant, source_id)
            settle(connection, run.tenant, source_id)
            if run.options.get("remove"):
                mark_all(connection, run.tenant, source_id, run.id)
                return
        Sync(settings, store, run, source).carry_out()


class Sync:
    """One sync of one source, by whoever holds its lock."""

    def __init__(self, settings: Settings, store: ChunkStore, run: RunRow, source: Source) -> None:
        self._settings = settings
        self._store = store
        self._run = run
        self._source = source
        self._limits = FileLimits.of(settings)
        self._again = bool(run.options.get("again"))
        with store.connection() as connection:
            self._known = known_entries(connection, source.tenant, source.id, self._limits.recipe)
            there = spaces_there(connection, source.tenant)
            self._room = Room(connection, settings, source.tenant)
        self._documents = sum(entry.document_id is not None for entry in self._known.values())
        self._readers = ReaderMap(source.group_map, source.spaces, there)
        self._sheets: dict[str, dict[str, Any]] = {}
        self._counts: dict[str, int] = {"moved": 0, "unread": 0, "new": 0, "changed": 0}

    def carry_out(self) -> None:
        """List and compare the source, and write what follows; a source that is away is raised."""
        try:
            connector = open_stored_source(self._source, self._settings, self._keep)
        except HelixError as error:
            self._tell(str(error))
            raise
        self._renew_secrets()
        with closing(connector):
            if isinstance(connector, Recalling):
                connector.recall(self._known)
            listing = list_source(connector, Selection.of(self._source), self._readers)
            self._sheets, wrong = sheets_of(connector, listing)
            found = compare(listing, self._known, again=self._again)
            self._count(listing, found)
            if self._run.options.get("dry_run"):
                self._preview(connector, listing, found)
                return
            if wrong:
                own = self._source.id
                sheets = [PlannedFile(uri_of(own, key), reason=why) for key, why in wrong.items()]
                add_files_to_run(self._store, self._run.id, sheets)
            self._update_same(found)
            self._read(connector, listing, found)
            self._tell(self._mark_gone(connector, listing, found))

    def _renew_secrets(self) -> None:
        """Seal the secrets by the first key of HELIX_SECRETS_KEY, where a former one did."""
        if self._source.secrets is None:
            return
        if (sealed := renewed(self._settings, self._source.secrets)) is not None:
            self._store_secrets(sealed)

    def _keep(self, secrets: Mapping[str, str]) -> None:
        """Keep the secrets that the source has now, such as a token that was renewed."""
        self._store_secrets(seal(self._settings, secrets))

    def _store_secrets(self, sealed: bytes) -> None:
        own = (self._source.tenant, self._source.id)
        with self._store.connection() as connection:
            reseal(connection, *own, sealed, before=self._source.secrets)
        self._source = replace(self._source, secrets=sealed)

    def _count(self, listing: Listing, found: Comparison) -> None:
        self._counts |= {
            "listed": len(listing.listed),
            "left": len(listing.listed) - len(listing.taken) - len(listing.sheets),
            "unchanged": len(found.same),
        }

    def _preview(self, connector: Connector, listing: Listing, found: Comparison) -> None:
        moved = take_moves(found, self._reader(connector, listing, found))
        removals = confirm(self._decide(listing, found), listing, connector)
        removals.error = listing.error or removals.error
        preview = preview_of(found, self._known, moved, removals)
        with self._store.connection() as connection:
            tell_preview(connection, self._source.tenant, self._source.id, preview)

    def _reader(self, connector: Connector, listing: Listing, found: Comparison) -> EntryReader:
        unlisted = {
            key: entry for key, entry in self._known.items()
            if listing.error and key not in listing.taken
        }  # fmt: skip
        return EntryReader(
            self._source.id, connector, self._limits, self._known, found.gone, unlisted,
            again=self._again,
        )  # fmt: skip

    def _update_same(self, found: Comparison) -> None:
        """Follow what is said of entries whose bytes are as they were: metadata and readers."""
        changed: list[tuple[Entry, dict[str, Any]]] = []
        for entry in found.same:
            before = self._known[entry.key]
            given = self._given(entry) or {}
            readers = None if entry.readers is None else list(entry.readers)
            is_told = (given, readers) == (before.metadata, before.readers)
            if before.document_id and not (is_told and self._is_placed(entry, before)):
                changed.append((entry, given))
        if not (changed or found.back):
            return
        own = (self._source.tenant, self._source.id)
        with self._store.connection() as connection, connection.transaction():
            for entry, given in changed:
                before = self._known[entry.key]
                put = replace(put_of(entry, before.content_hash), metadata=given)
                put_entries(connection, *own, [put])
                self._follow(connection, Outcome(entry, put))
            mark_back(connection, *own, found.back)

    def _follow(self, connection: Connected, outcome: Outcome) -> None:
        """Give a document the spaces that its source has for it now; and, if it stays, metadata.

        Its text may be another soon, or cannot be read any more: who lost it reads neither.
        """
        entry, source = outcome.entry, self._source
        before = outcome.moved_from or self._known.get(entry.key)
        if not outcome.put or before is None or before.document_id is None:
            return
        given = dict(outcome.put.metadata)
        if not outcome.file and given != before.metadata:
            give_metadata(connection, source.tenant, uri_of(source.id, entry.key), given)
        if not self._is_placed(entry, before):
            spaces = self._spaces_of(entry) or ()
            place_document_of(connection, source.tenant, before.document_id, spaces)

    def _spaces_of(self, entry: Entry) -> tuple[int, ...] | None:
        """The spaces of those who may read an entry; None where no reader is mapped."""
        return self._readers.spaces_of(entry.readers) if self._source.group_map else None

    def _is_placed(self, entry: Entry, before: KnownEntry) -> bool:
        """True where its document stands in its spaces: the map may be another than it was."""
        spaces = self._spaces_of(entry)
        return spaces is None or set(spaces) == set(before.spaces or ())

    def _given(self, entry: Entry) -> dict[str, Any] | None:
        """The metadata of an entry's document; None where something of it is none."""
        try:
            sheet = self._sheets.get(entry.key, {})
            return given_to(entry, sheet, self._source.folder_keys, self._source.metadata)
        except BadRequest:
            return None

    def _read(self, connector: Connector, listing: Listing, found: Comparison) -> None:
        """Read what is new or changed; a source that went away in the midst ends the listing."""
        reader = self._reader(connector, listing, found)
        batch: list[Outcome] = []
        try:
            for entry in found.read:
                outcome = self._read_if_room(reader, entry, found)
                if outcome.moved_from:
                    found.gone.pop(outcome.moved_from.key)
                batch.append(outcome)
                if len(batch) >= _BATCH or is_full([each.file for each in batch if each.file]):
                    self._write(batch)
                    batch = []
        except SourceAway as away:
            listing.error = str(away)
        self._write(batch)

    def _read_if_room(self, reader: EntryReader, entry: Entry, found: Comparison) -> Outcome:
        """Read an entry; where the tenant has no room for it, it waits for the next sync.

        Once one waits, what is too large by its listing is not read, unless it may be one moved.
        """
        uri, before = uri_of(self._source.id, entry.key), self._known.get(entry.key)
        looks_first = bool(self._room.refused) and not found.gone
        if looks_first and self._of_room(self._room.refuses, uri, entry.size or 0):
            return waiting(entry, before, self._room.reason)
        outcome = reader.read(entry)
        file = outcome.file
        if file is None or file.reason or self._of_room(self._room.take, uri, len(file.data)):
            return outcome
        return waiting(entry, before, self._room.reason)

    def _of_room(self, ask: Callable[[Connected, str, int], bool], uri: str, size: int) -> bool:
        with self._store.connection() as connection:
            return ask(connection, uri, size)

    def _write(self, batch: Sequence[Outcome]) -> None:
        """Write what became of some entries: files first, which the entries then stand for."""
        source = self._source
        batch = [self._described(outcome) for outcome in batch]
        files = [outcome.file for outcome in batch if outcome.file]
        if files:
            keeps = bool(source.options.get("keep_files"))
            add_files_to_run(
                self._store, self._run.id, files, source.tags, keeps, spaces=source.spaces
            )
        with self._store.connection() as connection, connection.transaction():
            puts = [outcome.put for outcome in batch if outcome.put and not outcome.moved_from]
            put_entries(connection, source.tenant, source.id, puts)
            self._counts["moved"] += self._moved(connection, batch)
            for outcome in batch:
                self._follow(connection, outcome)
        self._counts["unread"] += sum(bool(file.reason) for file in files)
        for file in files:
            key = file.source_uri.partition("/")[2]
            self._counts["changed" if key in self._known else "new"] += not file.reason

    def _described(self, outcome: Outcome) -> Outcome:
        """The outcome with the metadata and spaces of its document."""
        given = self._given(outcome.entry) or {}
        file, put, entry = outcome.file, outcome.put, outcome.entry
        told = {"url": entry.url, "name": entry.name}
        if file is not None:
            spaces = self._spaces_of(entry)
            origin = {name: text for name, text in told.items() if text}
            file = replace(file, metadata=given or None, spaces=spaces, origin=origin)
        return replace(outcome, file=file, put=put and replace(put, metadata=given))

    def _moved(self, connection: Connected, batch: Sequence[Outcome]) -> int:
        """Move the documents of entries that are only called otherwise; how many were."""
        moves = [
            Move(outcome.moved_from, outcome.put, name_of(outcome.entry))
            for outcome in batch
            if outcome.moved_from and outcome.put
        ]
        return len(move_entries(connection, self._source.tenant, self._source.id, moves))

    def _decide(self, listing: Listing, found: Comparison) -> Removals:
        # a source that went away meanwhile told who may not read, and not what is gone
        barred = {key: entry for key, entry in found.gone.items() if key in listing.barred}
        return decide(
            barred if listing.error else found.gone, listing, self._documents, self._settings,
            yes=bool(self._run.options.get("yes")), follows=self._source.follow_removals,
        )  # fmt: skip

    def _mark_gone(self, connector: Connector, listing: Listing, found: Comparison) -> str:
        """Mark what is to be removed and what waits; the error that the sync ends with, if any."""
        removals = confirm(self._decide(listing, found), listing, connector)
        own = (self._source.tenant, self._source.id)
        with self._store.connection() as connection, connection.transaction():
            if removals.removed:
                mark_gone(connection, *own, removals.removed, self._run.id)
            if removals.waiting:
                mark_gone(connection, *own, removals.waiting, None)
        if listing.error:
            return listing.error
        self._counts["waiting"] = len(removals.waiting)
        waits = f"{self._room.refused:,} files wait for room: {self._room.reason}"
        return "; ".join(filter(None, (removals.error, waits if self._room.refused else "")))

    def _tell(self, error: str) -> None:
        own = (self._source.tenant, self._source.id)
        with self._store.connection() as connection:
            tell_sync(connection, *own, self._counts, error, whole=not error)
