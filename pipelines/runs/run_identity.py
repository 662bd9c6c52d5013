"""The key that a run is known by on the host that asked for it, and the summary at its end."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator

from helix.domain.metadata import assignments
from helix.domain.scope import checked_tags
from helix.library.runs import Kind


def this_host() -> str:
    """The name under which this machine's files are known."""
    return socket.gethostname()


def tags_option(tags: list[str] | None) -> dict[str, object]:
    """The option of a run that labels its documents; none where no label was given.

    Raises:
        BadRequest: a label is none.
    """
    return {"tags": list(checked_tags(tags))} if tags else {}


def metadata_option(assigned: list[str] | None) -> dict[str, object]:
    """The option of a run that gives its documents metadata; none where none was given.

    Raises:
        BadRequest: it is none.
    """
    return {"metadata": assignments(assigned)} if assigned else {}


def run_key(kind: Kind, options: dict[str, object], host: str | None) -> str:
    """The same for the same request: an interrupted run is found by it."""
    identity = json.dumps([kind, options, host], sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


def summary(counts: dict[str, int], chunks: int, ignored: int) -> Iterator[str]:
    """The lines a run ends with; ``counts`` is files by status."""
    by_status = {status: counts.get(status, 0) for status in ("added", "replaced", "unchanged")}
    by_status["failed"] = counts.get("failed", 0)
    if counts.get("cancelled"):
        by_status["cancelled"] = counts["cancelled"]
    text = ", ".join(f"{count} {status}" for status, count in by_status.items())
    files = sum(counts.values())
    yield f"{files} {'file' if files == 1 else 'files'}: {text}; {chunks} chunks written"
    if ignored:
        yield f"files of other types, passed over: {ignored}"
