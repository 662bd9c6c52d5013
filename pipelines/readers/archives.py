"""Zip containers (DOCX, PPTX, XLSX, EPUB): what they would unpack to is checked before they are."""

from __future__ import annotations

import io
import zipfile

from pipelines.readers import UnreadableFile

_LARGEST = 512 * 1024 * 1024  # bytes unpacked, all entries together
_RATIO = 200  # unpacked bytes a byte; deflate reaches 1,032, a sheet of equal rows about 60
_SMALL = 16 * 1024 * 1024  # bytes unpacked; below it the ratio harms nobody
_MOST_ENTRIES = 20_000
_ENCRYPTED = 0x1  # the flag of an entry that takes a password
_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # what Office wraps an encrypted document in


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
