"""The results of a crawl, page by page, and the stored pages that a crawl is told of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class StoredPage:
    """A page that the database has, from ``documents``: its ``origin`` and ``content_hash``.

    Give none for a page that has to be read again although its bytes did not change (its recipe is
    out of date): a page known is a page whose bytes may not be had.
    """

    source_uri: str
    content_hash: str
    etag: str = ""
    last_modified: str = ""
    links: tuple[str, ...] | None = None
    """The links of the page; None where they were not stored, as with a single import."""

    @classmethod
    def from_origin(
        cls, source_uri: str, content_hash: str, origin: Mapping[str, object]
    ) -> StoredPage:
        """From a row of ``documents``; ``origin`` is its jsonb column."""
        links = origin.get("links")
        return cls(
            source_uri,
            content_hash,
            str(origin.get("etag") or ""),
            str(origin.get("last_modified") or ""),
            tuple(str(link) for link in links) if isinstance(links, list) else None,
        )


StoredPages = Callable[[str], StoredPage | None]
"""By a normalised URL: the document with that ``origin.url``, else with that ``source_uri``."""


@dataclass(frozen=True)
class PageToRead:
    """A page to read and write. ``media`` is a name of helix.domain.file_kinds.

    ``origin`` is what ``documents.origin`` keeps: url (where the bytes came from, redirects
    followed), etag, last_modified, and links where the page was found by following links.
    """

    source_uri: str
    data: bytes
    media: str
    title: str | None = None
    origin: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class FinishedPage:
    """A page with nothing left to do; ``reason`` is one line where it failed.

    ``gone``: the site says that there is no such page (404, 410).
    """

    source_uri: str
    status: Literal["unchanged", "failed"]
    reason: str = ""
    gone: bool = False


@dataclass(frozen=True)
class Ignored:
    """An address that is left out on purpose, not a failure: robots.txt, noindex, a duplicate."""

    source_uri: str
    reason: str


Result = PageToRead | FinishedPage | Ignored
