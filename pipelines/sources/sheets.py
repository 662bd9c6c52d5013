"""The sheets of a source: each metadata.csv says what others below its folder are.

Documents are given metadata by folders, sheets, the source and its owner.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from helix.domain.metadata import checked_metadata, inferred, json_of
from pipelines.files.metadata_sheet import Sheet, sheet_of
from pipelines.sources.base import Connector, Entry, SourceError
from pipelines.sources.comparison import Listing
from pipelines.sources.retries import with_retries


def sheets_by_file(sheets: Mapping[str, Sheet], keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """By the key of an entry, what the sheets above it say; ``sheets`` are by their own keys.

    A row names a path from its sheet's folder, or a name of any file below it; the nearest sheet
    has the last word.
    """
    by_name: dict[str, list[str]] = {}
    for key in keys:
        by_name.setdefault(posixpath.basename(key), []).append(key)
    found: dict[str, dict[str, Any]] = {}
    for sheet_key in sorted(sheets, key=lambda key: key.count("/")):
        folder = posixpath.dirname(sheet_key)
        within = f"{folder}/" if folder else ""
        for name, (_, metadata) in sheets[sheet_key].rows.items():
            path = posixpath.normpath(posixpath.join(folder, name))
            named = [key for key in by_name.get(name, ()) if key.startswith(within)]
            for key in [path] if path in keys else named:
                found.setdefault(key, {}).update(metadata)
    return found


def of_folders(key: str, folder_keys: Sequence[str]) -> dict[str, Any]:
    """The names of the folders that an entry lies in, as values of ``folder_keys``."""
    folders = key.split("/")[:-1]
    return {
        name: json_of(inferred(f"metadata.{name}", folder))
        for name, folder in zip(folder_keys, folders, strict=False)
        if folder.strip()
    }


def given_to(
    entry: Entry, sheet: Mapping[str, Any], folder_keys: Sequence[str], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The metadata of an entry's document; ``own`` is the source's for all, the last word.

    Raises:
        BadRequest: something of it is no metadata.
    """
    folders = of_folders(entry.key, folder_keys)
    return checked_metadata({**folders, **sheet, **entry.metadata, **own})


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
