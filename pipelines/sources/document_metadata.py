"""The metadata that documents of a source are given, by folders, sheets, the source, its owner."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from helix.domain.metadata import checked_metadata, inferred, json_of
from pipelines.files.metadata_sheet import Sheet
from pipelines.sources.base import Entry


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
