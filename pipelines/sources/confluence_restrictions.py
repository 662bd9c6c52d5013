"""The readers of Confluence's pages: by their own restrictions, and those of the pages above them.

A page without any is its space's, ``space:KEY``. Restrictions add up: who is to read it is named by
each of those on the way to it. Asked for by search, fifty pages a request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipelines.sources.base import SourceError

_SOME = 50
_NAMES = ("username", "email", "accountId")
"""Names that tell persons apart: on a server of one's own, and in the cloud."""
_READ = ("restrictions.read.restrictions.user", "restrictions.read.restrictions.group")
_EXPAND = ",".join(("space", *_READ, *(f"ancestors.{part}" for part in _READ)))


def restrictions_of(client: Any, pages: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The readers of each page by its id; a page that a search does not show is nobody's.

    Raises:
        SourceError: the answer has no restrictions.
    """
    found: dict[str, tuple[str, ...]] = {}
    wanted = list(dict.fromkeys(pages))
    while wanted:
        some, rest = wanted[:_SOME], wanted[_SOME:]
        found |= {page: who for page, who in _asked(client, some) if page in some}
        left = [page for page in some if page not in found]
        if len(left) == len(some):  # it shows fewer a request than it was asked for, but some
            found |= dict.fromkeys(left, ())
            left = []
        wanted = left + rest
    return found


def _asked(client: Any, pages: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    query = {"cql": f"id in ({','.join(pages)})", "expand": _EXPAND, "limit": len(pages)}
    for page in client.get("rest/api/content/search", params=query)["results"]:
        try:
            yield str(page["id"]), _readers(page)
        except (KeyError, TypeError):
            raise SourceError(
                f"Confluence does not tell the restrictions of the page {page.get('id')}"
            ) from None


def _readers(page: Mapping[str, Any]) -> tuple[str, ...]:
    levels = [_named(level) for level in (page, *page["ancestors"])]
    restricted = [names for names in levels if names is not None]
    if not restricted:
        return (f"space:{page['space']['key']}",)
    return tuple(sorted(set.intersection(*restricted)))


def _named(level: Mapping[str, Any]) -> set[str] | None:
    """The readers that a page names; None where it is not restricted."""
    told = level["restrictions"]["read"]["restrictions"]
    persons, groups = told["user"]["results"], told["group"]["results"]
    if not persons and not groups:
        return None
    names = {f"person:{person[name]}" for person in persons for name in _NAMES if person.get(name)}
    return names | {f"group:{group['name']}" for group in groups}
