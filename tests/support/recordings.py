"""Recordings as browsers make them: the containers, with nothing to hear in them."""

from __future__ import annotations

import io
import struct
import wave

RATE = 16_000


def wav(seconds: float) -> bytes:
    """Mono, 16 bits."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(RATE)
        recording.writeframes(bytes(2 * int(RATE * seconds)))
    return buffer.getvalue()


def flac(seconds: float) -> bytes:
    packed = (RATE << 44) | (15 << 36) | int(RATE * seconds)
    info = struct.pack(">HH", 4096, 4096) + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    return b"fLaC\x80\x00\x00\x22" + info + bytes(100)


def ogg(seconds: float, *, vorbis: bool = False) -> bytes:
    """A first page with the codec's head, and a last page."""
    if vorbis:
        head = b"\x01vorbis" + struct.pack("<IBI", 0, 1, RATE) + bytes(14)
        position = int(RATE * seconds)
    else:
        head = b"OpusHead\x01\x01" + struct.pack("<HIHB", 312, RATE, 0, 0)
        position = int(48_000 * seconds) + 312
    return _page(0, head) + _page(0, b"tags") + _page(position, bytes(80))


def _page(position: int, body: bytes) -> bytes:
    return (
        b"OggS\x00\x00" + struct.pack("<qIII", position, 7, 0, 0) + b"\x01" + bytes([len(body)])
        + body
    )  # fmt: skip


def webm(seconds: float, told: float | None = None) -> bytes:
    """Clusters of a second with a block at its end, of unknown length, as a recorder streams."""
    unknown = b"\x01\xff\xff\xff\xff\xff\xff\xff"
    info = _element(0x2AD7B1, (1_000_000).to_bytes(3, "big"))
    if told is not None:
        info += _element(0x4489, struct.pack(">d", told * 1000))
    data = _element(0x1A45DFA3, _element(0x4282, b"webm")) + b"\x18\x53\x80\x67" + unknown
    data += _element(0x1549A966, info)
    length = int(seconds * 1000)
    for begins in range(0, length, 1000):
        relative = min(1000, length - begins)
        data += b"\x1f\x43\xb6\x75" + unknown + _element(0xE7, begins.to_bytes(4, "big"))
        for at in (0, relative):
            data += _element(0xA3, b"\x81" + struct.pack(">h", at) + b"\x80sound")
    return data


def _element(name: int, value: bytes) -> bytes:
    size = (len(value) | 0x4000).to_bytes(2, "big")
    return name.to_bytes((name.bit_length() + 7) // 8, "big") + size + value


def mp4(seconds: float, *, fragmented: bool = False) -> bytes:
    told = 0 if fragmented else int(seconds * 1000)
    movie = _box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, 1000, told) + bytes(80))
    track = _box(b"mdhd", struct.pack(">IIIII", 0, 0, 0, 48_000, 0) + bytes(4))
    data = _box(b"ftyp", b"mp42\x00\x00\x00\x00isom")
    data += _box(b"moov", movie + _box(b"trak", _box(b"mdia", track)))
    if fragmented:
        for at in (0.0, seconds):
            begins = _box(b"tfdt", struct.pack(">BxxxQ", 1, int(at * 48_000)))
            data += _box(b"moof", _box(b"traf", begins)) + _box(b"mdat", bytes(50))
    return data


def _box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), name) + body
