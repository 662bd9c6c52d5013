"""Places of a document's words on its printed pages: boxes packed as bytes, and looked up."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_WORD = struct.Struct("<II4f")
LONGEST_SIDE = 1_000_000.0
"""Points of a page that is believed; a PDF's own limit is 14,400 units."""


class WordBox(NamedTuple):
    """A run of characters of the document's text and its rectangle on the page.

    ``start`` and ``end`` count from the start of the document's text. The rectangle is in points
    (72 to the inch) from the top left corner of the page as it is shown, rotation applied.
    """

    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PrintedPage:
    """A page of a PDF: its size, its label, and its words with their boxes.

    ``number`` counts from 1; ``label`` is the page number that is printed on it ("13", "iv"), ''
    where none is. ``width`` and ``height`` are in points, as shown. ``start`` and ``end`` are its
    span of the document's text. ``furniture`` are its running headers, footers and page numbers,
    which are left out of that text. ``words`` are ``pack_words``'s bytes.
    """

    number: int
    label: str
    width: float
    height: float
    start: int
    end: int
    furniture: tuple[str, ...] = ()
    words: bytes = b""


def pack_words(words: Iterable[WordBox]) -> bytes:
    """24 bytes a word, little endian: start and end as uint32, the rectangle as four float32."""
    return b"".join(_WORD.pack(*word) for word in words)


def unpack_words(packed: bytes) -> Iterator[WordBox]:
    """The words of ``pack_words``; struct.error where the bytes are not its."""
    return map(WordBox._make, _WORD.iter_unpack(packed))
