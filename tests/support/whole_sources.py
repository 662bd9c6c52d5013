"""Numbered sources of a prompt, each one chunk that is its whole document."""

from __future__ import annotations

from helix.domain.context import Source
from helix.domain.records import Hit


def whole_source(number: int, text: str) -> Source:
    """The source with this number; its chunk and its document have the same id."""
    hit = Hit(number, number, "T", "s", 0, text, 0, len(text), f"n{number}", 0.1)
    return Source(hit, (hit,), text, 0, len(text))


REFUNDS = whole_source(
    1, "Refunds are accepted within 30 days of purchase. Gift cards are excluded."
)
PARCELS = whole_source(2, "A parcel that has not moved for 10 days counts as lost.")
SOURCES = [REFUNDS, PARCELS]
