"""The common parts of the Office readers: opening files safely, properties, errors in a text."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeGuard

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import UnreadableFile
from pipelines.readers.outline import short_title

_LARGEST = 512 * 1024 * 1024  # bytes unpacked, all entries together
_RATIO = 200  # unpacked bytes a byte; deflate reaches 1,032, a sheet of equal rows about 60
_SMALL = 16 * 1024 * 1024  # bytes unpacked; below it the ratio harms nobody
_MOST_ENTRIES = 20_000
_ENCRYPTED = 0x1  # the flag of an entry that takes a password
_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # what Office wraps an encrypted document in
_CORE = "docProps/core.xml"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_STRICT = b"http://purl.oclc.org/ooxml/"
_LARGEST_CORE = 1_000_000  # bytes
# what the makers' own templates come with, and printing to a file
_NO_TITLE = re.compile(
    r"(?:word document|powerpoint presentation|presentation|untitled.*|microsoft \w+ - .*)?",
    re.IGNORECASE,
)
_OURS = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)


def check_zip(data: bytes) -> None:
    """Pass a zip that may be unpacked: at most 512 MB, no password, no entry twice.

    The declared sizes are judged: ``zipfile`` reads no more of an entry than it declares. For
    what reads on regardless there is the memory limit of the process (helix/sandbox).

    Raises:
        UnreadableFile: broken, encrypted or too large, with the reason.
    """
    if data.startswith(_OLE2):
        raise UnreadableFile(
            "encrypted, or of the Office formats before 2007: save it without a password as "
            "docx, pptx or xlsx"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError):
        raise UnreadableFile("broken: its zip container cannot be read; save it again") from None
    _check_entries(entries, len(data))


def _check_entries(entries: list[zipfile.ZipInfo], size: int) -> None:
    if len(entries) > _MOST_ENTRIES:
        raise UnreadableFile(f"more than {_MOST_ENTRIES:,} files in its zip container")
    if any(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise UnreadableFile("encrypted: save it without a password")
    if len({entry.filename for entry in entries}) < len(entries):
        raise UnreadableFile("broken: its zip container holds a file twice")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > _LARGEST or (unpacked > _SMALL and unpacked > _RATIO * size):
        raise UnreadableFile(
            f"unpacks to {unpacked // 2**20:,} MB from {size // 2**10:,} KB: split it into "
            "smaller files"
        )


def part_of(archive: zipfile.ZipFile, name: str) -> bytes:
    """A part of a zip; raises KeyError where there is none of this name.

    Read at once, what is longer than it declares would be unpacked whole before it is cut.
    """
    with archive.open(name) as part:
        return part.read(archive.getinfo(name).file_size)


@contextmanager
def guarded(data: bytes, what: str) -> Iterator[None]:
    """Around the reading of ``data``: what a library raises becomes UnreadableFile.

    The reason names ``what`` ("Word document") and the kind of error, never the library's message,
    which may quote the document. Lack of memory passes: it is the process's own limit.
    """
    check_zip(data)
    try:
        yield
    except (UnreadableFile, *_OURS):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of calamine's is no Exception
        if _is_strict(data):
            raise UnreadableFile(f"a {what} in the strict form: save it in the usual one") from None
        raise UnreadableFile(
            f"not a readable {what}: it is damaged ({type(error).__name__}); open it and save it "
            "again"
        ) from None


def _is_strict(data: bytes) -> bool:
    """True for an Office file in the strict form, whose namespaces no library here knows."""
    # of a damaged file the general reason is told
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _STRICT in part_of(archive, "_rels/.rels")
    return False


def core_title(data: bytes) -> str | None:
    """The title of a document's properties, where somebody gave it one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if _CORE not in archive.namelist() or archive.getinfo(_CORE).file_size > _LARGEST_CORE:
            return None
        core = part_of(archive, _CORE)
    try:
        root = etree.fromstring(core, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
    return given_title(root.findtext(_TITLE))


def given_title(text: str | None) -> str | None:
    """A title of a document's properties, if it is not one that programs give by themselves."""
    title = short_title(text or "")
    return None if _NO_TITLE.fullmatch(title) else title


def is_element(node: Any) -> TypeGuard[Any]:
    """Not a comment, an instruction or an entity left unresolved: those have functions as tags."""
    return isinstance(node.tag, str)


def local_name(node: Any) -> str:
    """An element's name without its namespace."""
    return str(node.tag).rpartition("}")[2]
