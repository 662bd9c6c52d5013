"""metadata.csv: a table beside files, a row a file, with the metadata of each."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helix.domain.metadata import checked_key, checked_metadata, typed
from helix.domain.read_text import UnreadableFile
from helix.errors import BadRequest

NAME = "metadata.csv"
_FIRST = ("file", "path", "name")
"""The headers of the first column. A file of this name with another is a document like any."""
_LARGEST = 32 * 2**20
_MOST_TOLD = 5
Json = dict[str, Any]


@dataclass
class Sheet:
    """The metadata of files by the name that the sheet has for them, with the line it stands in.

    ``problems`` are what is wrong with it, line by line.
    """

    path: Path
    rows: dict[str, tuple[int, Json]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """The problems in one line; empty where there are none."""
        more = len(self.problems) - _MOST_TOLD
        told = [*self.problems[:_MOST_TOLD], *([f"and {more} more"] if more > 0 else [])]
        return "; ".join(told)


def sheet_at(path: Path) -> Sheet | None:
    """The sheet in this file; None where it is none."""
    if path.name.lower() != NAME or not path.is_file():
        return None
    try:
        return None if path.stat().st_size > _LARGEST else sheet_of(path.read_bytes(), path)
    except OSError:
        return None


def sheet_of(data: bytes, path: Path) -> Sheet | None:
    """The sheet that these bytes are, which are called ``path``; None where they are none."""
    if len(data) > _LARGEST:
        return None
    text, problem = _decoded(data)
    try:
        header, *lines = list(_lines(text)) or [(0, [])]
    except csv.Error:
        return None
    if not header[1] or header[1][0].strip().lower() not in _FIRST:
        return None
    return Sheet(path, problems=[problem]) if problem else _read(path, header[1][1:], lines)


def _decoded(data: bytes) -> tuple[str, str]:
    """The text, and the reason why it is not to be trusted: spreadsheets save older encodings."""
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        from pipelines.readers.plain_text import decode  # takes time, for few
    try:
        return decode(data), ""
    except UnreadableFile as error:
        return data.decode("latin-1"), str(error)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    for row in reader:
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def _read(path: Path, headers: Sequence[str], lines: Sequence[tuple[int, list[str]]]) -> Sheet:
    sheet = Sheet(path)
    try:
        columns = [_column(header) for header in headers]
        if len({key for key, _ in columns}) < len(columns):
            raise BadRequest("a key is there twice")
    except BadRequest as error:
        sheet.problems.append(f"line 1: {error}")
        return sheet
    for number, (name, *cells) in lines:
        try:
            if len(cells) > len(columns):
                raise BadRequest(f"{len(cells) + 1} cells in {len(columns) + 1} columns")
            given = {
                key: typed(f"metadata.{key}", kind, cell)
                for (key, kind), cell in zip(columns, cells, strict=False)
                if cell.strip()
            }
            sheet.rows[name.strip()] = number, checked_metadata(given)
        except BadRequest as error:
            sheet.problems.append(f"line {number}: {error}")
    return sheet


def _column(header: str) -> tuple[str, str | None]:
    key, colon, kind = header.partition(":")
    return checked_key(key), kind.strip().lower() if colon else None
