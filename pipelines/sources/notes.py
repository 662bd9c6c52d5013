"""Notes of a connector on an entry, for the next sync: JSON that stands in ``etag``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pipelines.sources.base import Entry, Known


def noted(entry: Entry, **notes: Any) -> Entry:
    """``entry`` with its notes as its etag: its own etag, what it is shown by, and ``notes``."""
    told = {"etag": entry.etag, "name": entry.name, "url": entry.url, "notes": notes}
    if entry.metadata:
        told["metadata"] = dict(entry.metadata)
    return replace(entry, etag=json.dumps(told, ensure_ascii=False, sort_keys=True))


def remembered(known: Known) -> tuple[Entry, dict[str, Any]] | None:
    """The entry that ``noted`` gave, and its notes; None where its bytes were not had."""
    if not known.etag:
        return None
    told = json.loads(known.etag)
    entry = Entry(
        known.key,
        size=known.size,
        modified=known.modified,
        etag=known.etag,
        name=told["name"],
        url=told["url"],
        metadata=told.get("metadata", {}),
    )
    return entry, told["notes"]
