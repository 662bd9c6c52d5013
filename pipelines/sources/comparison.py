"""A listing beside what is known of the source: what is as it was, to be read, or gone.

What is gone is removed only after a listing that ended whole, and only what the source itself says
is there no more. Where more than a few and a share is gone at once, it waits for a yes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from helix.library.source_entries import KnownEntry
from helix.settings import Settings
from pipelines.sources.base import Connector, Entry, SourceError
from pipelines.sources.retries import with_retries

FEW = 5
"""Documents that may go at once whatever share of their source's they are."""


@dataclass
class Listing:
    """The entries that a source told, those ``taken`` among ``listed`` keys.

    ``sheets`` may describe others, ``barred`` are those that nobody may read whose readers are
    mapped. ``error`` says why it is not whole: then nothing is moved, and these alone are removed.
    """

    taken: dict[str, Entry] = field(default_factory=dict)
    sheets: dict[str, Entry] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    barred: set[str] = field(default_factory=set)
    error: str = ""


@dataclass
class Comparison:
    """``same`` costs nothing, ``read`` is new or changed, ``gone`` is listed no more."""

    same: list[Entry] = field(default_factory=list)
    read: list[Entry] = field(default_factory=list)
    gone: dict[str, KnownEntry] = field(default_factory=dict)
    back: list[str] = field(default_factory=list)
    """Keys of entries that were gone, and are there again as they were."""


def compare(
    listing: Listing, known: Mapping[str, KnownEntry], *, again: bool = False
) -> Comparison:
    """Tell what is to be done; ``again``: what failed or was deleted here is read again."""
    found = Comparison()
    for key, entry in listing.taken.items():
        before = known.get(key)
        if before is not None and is_same(entry, before, again=again):
            found.same.append(entry)
            if before.was_gone:
                found.back.append(key)
        else:
            found.read.append(entry)
    left = listing.barred if listing.error else known.keys() - listing.taken.keys()
    found.gone = {key: known[key] for key in known if key in left}
    return found


def is_same(entry: Entry, before: KnownEntry, *, again: bool = False) -> bool:
    """True where the bytes of an entry need not be had: they are as they were, and dealt with.

    They are where etag, size and time are, one of etag and time among them.
    """
    if before.coming or not (entry.etag or entry.modified):
        return False
    seen = (before.etag, before.size, before.modified)
    if (entry.etag, entry.size, entry.modified) != seen:
        return False
    if before.reason:
        return before.tried and not again
    if before.document_id is None:  # somebody deleted it here
        return not again
    return before.is_current


def too_many(gone: int, documents: int, most: int, percent: int) -> bool:
    """True where so many of a source's documents may not go without somebody's yes.

    A few are no share, or one file of three would wait; but all are, as where a mount is away.
    """
    are_few = gone <= FEW and gone < documents and percent > 0
    return gone > most or (not are_few and gone * 100 > documents * percent)


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
