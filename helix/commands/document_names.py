"""The document that a command's argument names: by its title, file name, path or number."""

from __future__ import annotations

import contextlib
import difflib
import unicodedata
from collections.abc import Iterable

from helix.commands.console import one_line
from helix.commands.service.documents import LibraryService
from helix.errors import HelixError
from helix.library.access import Row
from helix.library.document_list import DocumentFilter, Page
from helix.library.errors import NotFound

_MOST = 200
_SHOWN = 5
_LARGEST_ID = 2**63 - 1


class NoSuchDocument(HelixError):
    """No document, or more than one, is called like that."""


async def find_document(library: LibraryService, name: str) -> Row:
    """The one document that ``name`` means: exactly, else as the only one that has it as a part.

    Raises:
        NoSuchDocument: none does, or several do; the line names those that come near.
    """
    if name.isascii() and name.isdigit() and int(name) <= _LARGEST_ID:
        with contextlib.suppress(NotFound):  # a title may be a number
            return await library.get_document(int(name), with_text=False)
    page = await library.list_documents(DocumentFilter(search=name), Page(_MOST))
    matches: list[Row] = page["documents"]
    exact = [row for row in matches if _folded(name) in _names(row)]
    if len(exact) == 1 or len(matches) == 1:
        return (exact or matches)[0]
    if matches:
        labels = [_label(row) for row in (exact or matches)]
        raise NoSuchDocument(f'several documents are called "{name}": {_some(labels)}; say more')
    raise NoSuchDocument(
        f'there is no document "{one_line(name)}"{await _near(library, name)}:'
        " `helix documents` lists them"
    )


async def find_documents(library: LibraryService, names: Iterable[str]) -> list[Row]:
    """``find_document`` of each name, each document once."""
    matches: dict[int, Row] = {}
    for name in names:
        row = await find_document(library, name)
        matches[row["id"]] = row
    return list(matches.values())


async def _near(library: LibraryService, name: str) -> str:
    """The name that may have been meant, among the newest documents."""
    rows = (await library.list_documents(DocumentFilter(), Page(_MOST)))["documents"]
    by_name = {key: row for row in rows for key in _names(row)}
    close = difflib.get_close_matches(_folded(name), by_name, n=1)
    return f" (is it {_label(by_name[close[0]])}?)" if close else ""


def _names(row: Row) -> set[str]:
    names = (row["title"], row["file_name"] or "", row["source_uri"])
    return {_folded(each) for each in (*names, row["source_uri"].rpartition("/")[2]) if each}


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _label(row: Row) -> str:
    return one_line(f'"{row["title"]}" ({row["source_uri"]})')


def _some(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
