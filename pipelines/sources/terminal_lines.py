"""Sources and their syncs told in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_COUNTS = ("unchanged", "new", "changed", "moved", "removed", "waiting", "unread", "left")
_LISTS = ("new", "changed", "moved", "removed", "waiting")
_SHOWN = 20


def counts_line(counts: Mapping[str, int]) -> str:
    """The counts of a sync in one line; what there is nothing of is left out."""
    told = [f"{counts[name]} {name}" for name in _COUNTS if counts.get(name)]
    return ", ".join(told) or "nothing"


def state_of(row: Mapping[str, Any]) -> str:
    """The state of a source in a few words."""
    if row["run_id"]:
        return f"run {row['run_id']} syncs it"
    if row["waiting"]:
        return f"{row['waiting']} removals wait for a yes"
    if row["last_error"]:
        return str(row["last_error"])
    state = "paused" if row["state"] == "paused" else "in step" if row["last_run_at"] else "new"
    if failed := row["failed"]:
        return f"{state}, but {failed} {'file' if failed == 1 else 'files'} failed"
    return state


def preview_lines(preview: Mapping[str, Any] | None) -> Iterator[str]:
    """The preview of a sync; nothing where no preview was asked for since the last one."""
    if not preview:
        return
    counts = preview["counts"]
    yield f"a sync would find: {counts_line(counts)}"
    for name in _LISTS:
        for key in preview[name][:_SHOWN]:
            yield f"  {name:<8} {key}"
        if (more := counts[name] - len(preview[name][:_SHOWN])) > 0:
            yield f"  {name:<8} and {more} more"
    if preview["error"]:
        yield f"but: {preview['error']}"
