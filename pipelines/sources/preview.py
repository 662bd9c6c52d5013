"""A sync told beforehand: what it would read, move and remove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helix.library.source_entries import KnownEntry
from pipelines.sources.base import Entry, SourceError
from pipelines.sources.comparison import Comparison, Removals
from pipelines.sources.entry_reader import EntryReader, Outcome

_MOST_TOLD = 100


def take_moves(found: Comparison, reader: EntryReader) -> dict[str, str]:
    """By the key of a new entry, the one that is gone and had its bytes; taken out of both.

    What is new is read, where anything is gone. What was deleted here, and moved, is not new.
    """
    moved: dict[str, str] = {}
    read: list[Entry] = []
    for entry in found.read:
        outcome = _outcome(reader, entry) if found.gone else None
        if outcome is None or outcome.file or not outcome.put:
            read.append(entry)
        elif outcome.moved_from:
            moved[entry.key] = outcome.moved_from.key
            del found.gone[outcome.moved_from.key]
    found.read = read
    return moved


def _outcome(reader: EntryReader, entry: Entry) -> Outcome | None:
    try:
        return reader.read(entry)
    except SourceError:
        return None


def preview_of(
    found: Comparison, known: Mapping[str, KnownEntry], moved: Mapping[str, str], removals: Removals
) -> dict[str, Any]:
    """The preview as JSON; of a long list it has the first hundred, and the count."""
    stored = {key for key, entry in known.items() if entry.document_id is not None}
    read = [entry.key for entry in found.read]
    lists = {
        "new": [key for key in read if key not in stored],
        "changed": [key for key in read if key in stored],
        "moved": [f"{old} → {key}" for key, old in moved.items()],
        "removed": removals.removed,
        "waiting": removals.waiting,
    }
    counts = {name: len(keys) for name, keys in lists.items()} | {"unchanged": len(found.same)}
    told = {name: keys[:_MOST_TOLD] for name, keys in lists.items()}
    return {**told, "counts": counts, "error": removals.error}
