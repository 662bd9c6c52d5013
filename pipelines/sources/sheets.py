"""The sheets of a source: each metadata.csv says what others below its folder are."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from pipelines.files.metadata_sheet import Sheet, sheet_of
from pipelines.sources.base import Connector, SourceError
from pipelines.sources.comparison import Listing
from pipelines.sources.document_metadata import sheets_by_file
from pipelines.sources.retries import with_retries


def sheets_of(connector: Connector, listing: Listing) -> dict[str, dict[str, Any]]:
    """Metadata that the sheets of a listing have, by the key of an entry; they are read every time.

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
    return sheets_by_file(sheets, listing.taken)
