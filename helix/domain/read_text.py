"""Reading a file: bytes in, text with its sections, tables and pages out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from helix.domain.pages import PrintedPage
from helix.domain.records import Section
from helix.domain.tables import Table


class UnreadableFile(Exception):
    """A file cannot be read as what it is; the message is the reason, for its owner to read."""


@dataclass(frozen=True)
class ReadText:
    """The result of a reader.

    ``text`` is the whole text and ``title`` the document's own, where it has one. No sections is
    one section. ``warnings`` name what could not be read although the rest was ("page 3: a scan,
    and OCR is not installed: pip install 'helix-answers[ocr]'"). ``tables`` are in the order of the
    text; ``pages`` are those of a PDF. ``heading`` is the largest heading of a first page, for a
    title where the format's own says nothing. ``metadata`` is what the file's own front matter has,
    as helix/domain/metadata.py has it.
    """

    text: str
    title: str | None = None
    sections: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pages: tuple[PrintedPage, ...] = ()
    heading: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


Progress = Callable[[int, int], None]
"""Hears (pages read, pages in all); pages, slides or sheets. A reader without them never calls."""

Reader = Callable[[bytes, Progress], ReadText]
"""Raises UnreadableFile."""
