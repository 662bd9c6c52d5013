"""The sheets of a source: each metadata.csv says what others below its folder are."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pipelines.files.metadata_sheet import Sheet, sheet_of
from pipelines.sources.base import Connector, SourceError
from pipelines.sources.comparison import Listing
from pipelines.sources.document_metadata import sheets_by_file
from pipelines.sources.retries import with_retries


def sheets_of(
    connector: Connector, listing: Listing
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Metadata that the sheets of a listing have, by the key of an entry, and what is wrong with
    a sheet, by its own; they are read every time.

    A metadata.csv that is no sheet is taken as any other file; one that cannot be read now says
    nothing, and takes nothing back.
    """
    sheets: dict[str, Sheet] = {}
    for key, entry in list(listing.sheets.items()):
        try:
            data = with_retries(partial(connector.read, entry))
        except SourceError:
            continue
        if (sheet := sheet_of(data, Path(key))) is None:
            listing.taken[key] = listing.sheets.pop(key)
        else:
            sheets[key] = sheet
    described = sheets_by_file(sheets, listing.taken)
    if not listing.error:
        _tell_missing(sheets, listing.listed)
    return described, {key: sheet.reason for key, sheet in sheets.items() if sheet.reason}


def _tell_missing(sheets: Mapping[str, Sheet], listed: Collection[str]) -> None:
    names = set(map(posixpath.basename, listed))
    for key, sheet in sheets.items():
        for name, (line, _) in sheet.rows.items():
            path = posixpath.normpath(posixpath.join(posixpath.dirname(key), name))
            if not name or (path not in listed and name not in names):
                sheet.problems.append(f"line {line}: there is no file {name[:200]!r}")
