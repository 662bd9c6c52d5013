"""Bookmarks of a PDF document: the heading paths that its pages and their sections are under."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from helix.sandbox.pdfium.document import Document
from pipelines.readers.printed.words import UNPRINTED

_MOST = 10_000
_LONGEST_TITLE = 200  # characters
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d{1,3}|[a-z]|[ivx]{1,5}")

HeadingPath = tuple[str, ...]


class PageBookmarks:
    """The bookmarks that lead to one page, and the path of the last one ``before`` it."""

    def __init__(self, before: HeadingPath, here: Sequence[HeadingPath]) -> None:
        self._before, self._here = before, here

    @property
    def path(self) -> HeadingPath:
        """The path of the page as a whole: of its bookmark, or of the last before it.

        Where the page holds several, their common part, for a text may be under any of them.
        """
        if len(self._here) > 1:
            levels = zip(*self._here, strict=False)
            shared = tuple(names[0] for names in takewhile(lambda n: len(set(n)) == 1, levels))
            return shared or self._here[0]
        return self._here[0] if self._here else self._before

    def places_in(self, lines: Sequence[str]) -> dict[int, HeadingPath]:
        """The places of the bookmarks' titles among the ``lines`` of the page, with their paths.

        The last place that a title has is its heading's: a list of what follows may stand above.
        The path above the first of them is at -1. Empty where one title is not there, or not in
        the order of the bookmarks.
        """
        found = dict[int, HeadingPath]()
        rest = reversed(list(enumerate(lines)))
        for path in reversed(self._here):
            place = next((place for place, line in rest if _names(line, path[-1])), None)
            if place is None:
                return {}
            found[place] = path
        return found | {-1: self._before} if found else {}

    @property
    def lead_here(self) -> bool:
        """True where a bookmark leads to the page."""
        return bool(self._here)


def _names(heading: str, title: str) -> bool:
    """True where heading and title differ at most by a number in front, such as `Chapter 4.`."""
    one, other = (_WORD.findall(text.casefold()) for text in (heading, title))
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if not shorter or longer[-len(shorter) :] != shorter:
        return bool(shorter) and "".join(longer) == "".join(shorter)
    number = longer[: len(longer) - len(shorter)]
    return all(map(_NUMBER.fullmatch, number[1:] or number))


@dataclass(frozen=True)
class Bookmarks:
    """Pages, from 1 and going up, and the path of the bookmark that leads to each."""

    pages: Sequence[int]
    paths: Sequence[HeadingPath]

    @classmethod
    def of(cls, document: Document) -> Bookmarks | None:
        """The bookmarks of a document; None where it has none."""
        found = sorted(_bookmarks(document), key=lambda mark: mark[0])
        return cls([page for page, _ in found], [path for _, path in found]) if found else None

    def on(self, page: int) -> PageBookmarks:
        """The bookmarks that lead to ``page``."""
        first, end = bisect_right(self.pages, page - 1), bisect_right(self.pages, page)
        return PageBookmarks(self.paths[first - 1] if first else (), self.paths[first:end])


def _bookmarks(document: Document) -> Iterator[tuple[int, HeadingPath]]:
    path: list[str] = []
    for bookmark in islice(document.bookmarks(), _MOST):
        title = " ".join(UNPRINTED.sub("", bookmark.title).split())[:_LONGEST_TITLE]
        path[bookmark.level :] = [title]
        if bookmark.page is not None and title:
            yield bookmark.page + 1, tuple(filter(None, path))
