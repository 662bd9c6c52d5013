"""Zips made to harm: bombs, shared bytes, zips in zips, parts that want to be elsewhere."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from html import escape

from tests.support import sample_documents as documents
from tests.support.sound_files import samples, with_part

_BLOCK = 1 << 20


@cache
def _deflated(start: bytes, filler: bytes, size: int) -> bytes:
    """``size`` bytes of ``filler`` after ``start``, by one compressed block again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(filler * (_BLOCK // len(filler))) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (size // _BLOCK) + packer.flush()


def zip_bomb(
    kind: str, name: str, size: int, start: bytes = b"", filler: bytes = b"\0", told: int = 1 << 40
) -> bytes:
    """A sound file whose part ``name`` unpacks to ``size`` bytes, ``told`` of them as it says."""
    parts = documents.unzipped(samples()[kind])
    packed = {part: _deflated(data, b"\n", 0) for part, data in parts.items()}
    packed[name] = _deflated(start, filler, size)
    sizes = {part: (zlib.crc32(data), len(data)) for part, data in parts.items()}
    sizes[name] = (0, min(size, told, 0xFFFFFFFE))
    return _zip(packed, sizes, {})


def overlapping(kind: str, name: str, copies: int, size: int) -> bytes:
    """``copies`` more parts beside ``name`` that all share its bytes, of ``size`` unpacked."""
    parts = documents.unzipped(samples()[kind])
    packed = {part: _deflated(data, b"\n", 0) for part, data in parts.items()}
    packed[name] = _deflated(b"", b"A", size)
    sizes = {part: (zlib.crc32(data), len(data)) for part, data in parts.items()}
    sizes[name] = (0, min(size, 0xFFFFFFFE))
    return _zip(packed, sizes, {f"{number}-{name}": name for number in range(copies)})


def _zip(
    packed: Mapping[str, bytes], sizes: Mapping[str, tuple[int, int]], same: Mapping[str, str]
) -> bytes:
    out, central, offsets = bytearray(), bytearray(), {}
    for name, data in packed.items():
        offsets[name] = len(out)
        crc, size = sizes[name]
        local = (20, 0, 8, 0, 33, crc, len(data), size, len(name), 0)
        out += struct.pack("<4s5H3L2H", b"PK\3\4", *local) + name.encode() + data
    entries = {**{name: name for name in packed}, **same}
    for name, at in entries.items():
        crc, size = sizes[at]
        fields = (20, 20, 0, 8, 0, 33, crc, len(packed[at]), size, len(name), 0, 0, 0, 0, 0)
        central += struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields, offsets[at]) + name.encode()
    counts = (0, 0, len(entries), len(entries), len(central), len(out), 0)
    return bytes(out + central + struct.pack("<4s4H2LH", b"PK\5\6", *counts))


def nested_zip(kind: str, name: str, depth: int) -> bytes:
    """Zips in zips in the place of a part."""
    inner = b"0" * 1_000_000
    for _ in range(depth):
        inner = documents.zipped({"0.zip": inner})
    return with_part(kind, name, inner)


def traversal(kind: str, target: str) -> bytes:
    """A sound file with parts that want to be elsewhere, or are links to elsewhere."""
    out = io.BytesIO(samples()[kind])
    with zipfile.ZipFile(out, "a") as archive:
        for name in ("../../evil.txt", "/tmp/evil.txt", "..\\evil.txt", f"../{target}", "C:\\evil"):
            archive.writestr(name, "evil")
        link = zipfile.ZipInfo("word/link.xml")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, target)
    return out.getvalue()


def epub_elsewhere(target: str) -> bytes:
    """A book whose chapters are a file outside, as a path, as an address and as a link."""
    book = documents.unzipped(samples()["epub"])
    package = book["OEBPS/content.opf"].decode()
    for number, path in enumerate((f"../../../../../..{target}", f"file://{target}"), start=1):
        package = package.replace(f"chapter{number}.xhtml", escape(path))
    return documents.changed(samples()["epub"], {"OEBPS/content.opf": package.encode()})
