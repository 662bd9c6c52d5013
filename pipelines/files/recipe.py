"""What a document is made with, and whether a stored one is made of the same."""

READERS = "5"
"""Raise it when a reader gives another text, or other sections, for the same bytes."""

SPLITTERS = "5"
"""Raise it when the same text gives other chunks, or something else in front of them."""

RECIPE = f"readers-{READERS} splitters-{SPLITTERS}"
"""A document of another recipe is read and split again."""

Fingerprint = tuple[str, str, str]
"""content_hash, recipe and title of a stored document; '' for one that people gave."""


def is_unchanged(stored: Fingerprint | None, content_hash: str, title: str | None) -> bool:
    """Whether a source stored as this need not be read again.

    A title once given stays until another is given: without one, only the content decides. One that
    people gave (PATCH) stays whatever a run gives.
    """
    if stored is None:
        return False
    return stored[:2] == (content_hash, RECIPE) and (not stored[2] or title in (None, stored[2]))
