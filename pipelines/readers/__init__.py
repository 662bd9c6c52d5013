"""Readers by file type: bytes in, text and title out. A new format needs one file and one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath


class UnreadableFile(Exception):
    """A file cannot be read as what it is; the message is the reason, for its owner to read."""


@dataclass(frozen=True)
class ReadText:
    """What a reader gives: the whole text, and the document's own title where it has one."""

    text: str
    title: str | None = None


Reader = Callable[[bytes], ReadText]
"""Raises UnreadableFile."""

READERS = {
    ".txt": "pipelines.readers.plain_text:read",
    ".text": "pipelines.readers.plain_text:read",
    ".md": "pipelines.readers.markdown:read",
    ".markdown": "pipelines.readers.markdown:read",
}
"""Suffix to ``module:function``; a module is imported when a file of its type turns up."""

VERSION = "1"
"""Part of each document's recipe: raise it when a reader gives another text for the same bytes."""


def supported(path: PurePath) -> bool:
    """Whether some reader takes files named like ``path``."""
    return path.suffix.lower() in READERS


def read(path: PurePath, data: bytes) -> ReadText:
    """The text of ``data``, by the reader for ``path``'s suffix.

    Raises:
        UnreadableFile: no reader, or the reader's reason.
    """
    if not supported(path):
        known = ", ".join(sorted(READERS))
        raise UnreadableFile(f"no reader for {path.suffix or 'files without a suffix'} ({known})")
    module, _, function = READERS[path.suffix.lower()].partition(":")
    reader: Reader = getattr(import_module(module), function)
    return reader(data)
