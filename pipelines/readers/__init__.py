"""Readers by kind of file: bytes in, text with its sections out. A new format is a file and a line.

A reader is run in a process of its own with limits (helix/sandbox): it may take all memory
and all the time it is given, and it may crash; nothing but its own file is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from helix.domain.plugins import READERS as READER_PLUGINS
from helix.domain.plugins import plugins
from helix.domain.read_text import Progress as Progress
from helix.domain.read_text import Reader as Reader
from helix.domain.read_text import ReadText as ReadText
from helix.domain.read_text import UnreadableFile as UnreadableFile

READERS = {
    "text": "pipelines.readers.plain_text:read",
    "markdown": "pipelines.readers.markdown:read",
    "html": "pipelines.readers.html:read",
    "pdf": "pipelines.readers.pdf:read",
    "docx": "pipelines.readers.docx:read",
    "pptx": "pipelines.readers.pptx:read",
    "xlsx": "pipelines.readers.xlsx:read",
    "odt": "pipelines.readers.odt:read",
    "odp": "pipelines.readers.odp:read",
    "ods": "pipelines.readers.ods:read",
    "csv": "pipelines.readers.csv:read",
    "epub": "pipelines.readers.epub:read",
    "eml": "pipelines.readers.eml:read",
    "ipynb": "pipelines.readers.ipynb:read",
}
"""Kind of file to ``module:function``; a module is imported when such a file turns up."""


def reader_of(kind: str, readers: Mapping[str, str] = READERS) -> str:
    """``module:function`` of the reader of ``kind``: one of ``readers``, else a plugin's.

    Raises:
        UnreadableFile: there is none.
    """
    if kind in readers:
        return readers[kind]
    if plugin := plugins(READER_PLUGINS).get(kind):
        return plugin.target
    raise UnreadableFile(f"no reader for {kind}")


def read(kind: str, data: bytes, progress: Progress = lambda done, total: None) -> ReadText:
    """The text of ``data``, by the reader of ``kind``.

    Raises:
        UnreadableFile: no reader, or the reader's reason.
    """
    module, _, function = reader_of(kind).partition(":")
    reader: Reader = getattr(import_module(module), function)
    text = import_module("pipelines.readers.searchable_text")
    found: ReadText = text.without_navigation(reader(data, progress))
    return found
