"""Removals: decided with the listing, and confirmed by the source; ending.py carries them out.

What is gone is removed only after a listing that ended whole, and only what the source itself says
is there no more. Where more than a few and a share is gone at once, it waits for a yes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from helix.library.source_entries import KnownEntry
from helix.settings import Settings
from pipelines.sources.base import Connector, SourceError
from pipelines.sources.comparison import Listing, too_many
from pipelines.sources.retries import with_retries


@dataclass
class Removals:
    """Keys of the entries to remove, and of those that wait; ``error``: why there are none."""

    removed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    error: str = ""


def decide(
    gone: Mapping[str, KnownEntry],
    listing: Listing,
    documents: int,
    settings: Settings,
    *,
    yes: bool,
    follows: bool,
) -> Removals:
    """Tell what may go of what is ``gone``, of a source with so many ``documents``.

    ``yes`` is somebody's to what waited before. What nobody may read any more goes at once, also
    where removals are not followed: that is no listing that fell short.
    """
    sure = {
        key for key, entry in gone.items() if entry.document_id is None or key in listing.barred
    }
    if follows:
        sure |= {key for key, entry in gone.items() if yes and entry.was_gone}
    others = [key for key in gone if key not in sure]
    waits = too_many(len(others), documents, settings.removals, settings.removal_percent)
    if waits or not follows:
        return Removals(sorted(sure), sorted(others))
    return Removals(sorted(gone))


def confirm(removals: Removals, listing: Listing, connector: Connector) -> Removals:
    """Ask the source of each entry that is to go; where one is there, the listing fell short."""
    try:
        left_out = [key for key in removals.removed if _is_there(connector, listing, key)]
    except SourceError as error:
        return Removals(error=str(error))
    if not left_out:
        return removals
    return Removals(
        error=f"its listing left out what is there ({left_out[0]}; {len(left_out)} in all):"
        " nothing was removed"
    )


def _is_there(connector: Connector, listing: Listing, key: str) -> bool:
    """True where the listing should have had it; what was listed was left out by choice."""
    return key not in listing.listed and with_retries(lambda: connector.is_there(key))
