"""The format and length of a recording, read from its bytes without decoding the sound. Pure.

Browsers record WebM (Chromium, Firefox), Ogg (Firefox) and MP4 (Safari); people keep WAV and FLAC.
Where the header does not state the length, the last timestamp does.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_Span = tuple[int, int]
_MOST_PARTS = 300_000
"""Parts that a recording may have: ten minutes of the shortest frames of Opus, 2.5 ms, are 240,000.
Without an end, 25 MB of the smallest parts took half a minute of a processor."""
_DEEPEST = 8
"""Boxes of MP4 within one another; recordings have five."""


@dataclass(frozen=True)
class Sound:
    """A recording: its MIME type, and its length in seconds by its header or timestamps."""

    type: str
    seconds: float


def sound_of(data: bytes) -> Sound | None:
    """The format and length of ``data``; None where it is of another format, or damaged."""
    for kind, signature, offset, measure in _KINDS:
        if data[offset : offset + len(signature)] == signature:
            try:
                seconds = measure(data)
            except (struct.error, IndexError, ValueError, ZeroDivisionError, OverflowError):
                return None
            return Sound(kind, seconds) if seconds > 0 else None
    return None


def _wav(data: bytes) -> float:
    """RIFF: bytes of sound divided by bytes a second; an interrupted recording has no size."""
    if data[8:12] != b"WAVE":
        raise ValueError
    rate, at = 0, 12
    for _ in range(_MOST_PARTS):
        name, size = struct.unpack_from("<4sI", data, at)
        if name == b"fmt ":
            (rate,) = struct.unpack_from("<I", data, at + 16)
        elif name == b"data":
            return float(min(size, len(data) - at - 8) / rate)
        at += 8 + size + size % 2
    raise ValueError


def _flac(data: bytes) -> float:
    """FLAC, STREAMINFO: 20 bits of sample rate, and 36 bits of the number of samples."""
    packed = int.from_bytes(data[18:26], "big")
    return (packed & (2**36 - 1)) / (packed >> 44)


def _ogg(data: bytes) -> float:
    """RFC 3533: the last page's granule position, in samples of Opus' 48 kHz or Vorbis' rate."""
    packet = data[27 + data[26] :]
    skipped = 0
    if packet.startswith(b"OpusHead"):
        rate = 48_000
        (skipped,) = struct.unpack_from("<H", packet, 10)
    elif packet.startswith(b"\x01vorbis"):
        (rate,) = struct.unpack_from("<I", packet, 12)
    else:
        raise ValueError
    (position,) = struct.unpack_from("<q", data, data.rindex(b"OggS") + 6)
    return float((position - skipped) / rate)


_SEGMENT, _INFO, _CLUSTER, _GROUP = 0x18538067, 0x1549A966, 0x1F43B675, 0xA0
_SCALE, _DURATION, _TIME, _SIMPLE, _BLOCK = 0x2AD7B1, 0x4489, 0xE7, 0xA3, 0xA1


def _webm(data: bytes) -> float:
    """Matroska: the length in its info, or the time of the last block, if that is later.

    A recorder that streams writes no length, neither of the file nor of a cluster.
    """
    scale, duration, cluster, last = 1_000_000, 0.0, 0, 0
    for element, (begins, ends) in _elements(data):
        value = data[begins:ends]
        if element == _SCALE:
            scale = int.from_bytes(value, "big")
        elif element == _DURATION:
            (duration,) = struct.unpack(">f" if len(value) == 4 else ">d", value)
        elif element == _TIME:
            cluster = int.from_bytes(value, "big")
            last = max(last, cluster)
        elif element in (_SIMPLE, _BLOCK):
            (relative,) = struct.unpack_from(">h", data, begins + _width(data[begins]))
            last = max(last, cluster + relative)
    return float(max(duration, last)) * scale / 1e9


def _elements(data: bytes) -> Iterator[tuple[int, _Span]]:
    """The elements that hold times, in order, also those within container elements."""
    at = 0
    for _ in range(_MOST_PARTS):
        if at >= len(data):
            return
        width = _width(data[at])
        element = int.from_bytes(data[at : at + width], "big")
        at += width
        width = _width(data[at])
        size = int.from_bytes(data[at : at + width], "big") & (2 ** (7 * width) - 1)
        at += width
        if element in (_SEGMENT, _INFO, _CLUSTER, _GROUP):
            continue
        yield element, (at, at + size)
        at += size
    raise ValueError


def _width(first: int) -> int:
    """The length in bytes of a number whose first byte is ``first``: RFC 8794, section 4."""
    if not first:
        raise ValueError
    return 9 - first.bit_length()


def _mp4(data: bytes) -> float:
    """ISO 14496-12: the movie's length, or where its last fragment begins, if that is later."""
    scale, length, last = 0, 0, 0
    for name, (begins, ends) in _boxes(data, 0, len(data), iter(range(_MOST_PARTS))):
        long = ends > begins and data[begins] == 1
        if name == b"mvhd":
            scale, length = struct.unpack_from(">IQ" if long else ">II", data,
                                               begins + (20 if long else 12))  # fmt: skip
        elif name == b"mdhd" and not length:  # fragments count in the track's own units
            (scale,) = struct.unpack_from(">I", data, begins + (20 if long else 12))
        elif name == b"tfdt":
            (last,) = struct.unpack_from(">Q" if long else ">I", data, begins + 4)
    if not last and not length and b"moof" in data:
        return 0.001  # one fragment from the beginning on, of unknown length: that of its bytes
    return float(max(length, last) / scale)


def _boxes(
    data: bytes, at: int, end: int, numbers: Iterator[int], depth: int = 0
) -> Iterator[tuple[bytes, _Span]]:
    for _ in numbers if depth < _DEEPEST else ():
        if at + 8 > end:
            return
        size, name = struct.unpack_from(">I4s", data, at)
        head = 8
        if size == 1:
            (size,) = struct.unpack_from(">Q", data, at + 8)
            head = 16
        size = size or end - at
        if size < head:
            raise ValueError
        ends = min(at + size, end)
        if name in (b"moov", b"trak", b"mdia", b"moof", b"traf"):
            yield from _boxes(data, at + head, ends, numbers, depth + 1)
        else:
            yield name, (at + head, ends)
        at += size
    raise ValueError


_KINDS: tuple[tuple[str, bytes, int, Callable[[bytes], float]], ...] = (
    ("audio/webm", b"\x1a\x45\xdf\xa3", 0, _webm),
    ("audio/ogg", b"OggS", 0, _ogg),
    ("audio/mp4", b"ftyp", 4, _mp4),
    ("audio/wav", b"RIFF", 0, _wav),
    ("audio/flac", b"fLaC", 0, _flac),
)
