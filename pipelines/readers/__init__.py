"""Readers by kind of file: bytes in, text with its sections out. A new format is a file and a line.

A reader is run in a process of its own with limits (helix/sandbox): it may take all memory
and all the time it is given, and it may crash; nothing but its own file is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

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
    title where the format's own says nothing.
    """

    text: str
    title: str | None = None
    sections: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pages: tuple[PrintedPage, ...] = ()
    heading: str | None = None


Progress = Callable[[int, int], None]
"""Hears (pages read, pages in all); pages, slides or sheets. A reader without them never calls."""

Reader = Callable[[bytes, Progress], ReadText]
"""Raises UnreadableFile."""

READERS = {
    "text": "pipelines.readers.plain_text:read",
    "markdown": "pipelines.readers.markdown:read",
    "html": "pipelines.readers.html:read",
    "pdf": "pipelines.readers.pdf:read",
    "docx": "pipelines.readers.docx:read",
    "pptx": "pipelines.readers.pptx:read",
    "xlsx": "pipelines.readers.xlsx:read",
    "csv": "pipelines.readers.csv:read",
    "epub": "pipelines.readers.epub:read",
}
"""Kind of file to ``module:function``; a module is imported when such a file turns up."""


def read(kind: str, data: bytes, progress: Progress = lambda done, total: None) -> ReadText:
    """The text of ``data``, by the reader of ``kind``.

    Raises:
        UnreadableFile: no reader, or the reader's reason.
    """
    if kind not in READERS:
        raise UnreadableFile(f"no reader for {kind}")
    module, _, function = READERS[kind].partition(":")
    reader: Reader = getattr(import_module(module), function)
    return reader(data, progress)
