"""What kind of image some bytes are. Pure.

Only what models take: PNG, JPEG, WebP, HEIC and HEIF (Gemini takes no GIF). Names and declared
types play no part.
"""

from __future__ import annotations

_HEIC_BRANDS = frozenset((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"))
_HEIF_BRANDS = frozenset((b"mif1", b"msf1", b"heif"))


def image_type(data: bytes) -> str | None:
    """The MIME type of an image with these bytes, or None where they are none that models take.

    A signature alone is not enough: what has to follow it must be there too.
    """
    checks = {
        "image/png": _is_png,
        "image/jpeg": _is_jpeg,
        "image/webp": _is_webp,
    }
    found = next((name for name, check in checks.items() if check(data)), None)
    return found or _heif_type(data)


def _is_png(data: bytes) -> bool:
    """PNG, section 5.2 and 11.2.1: the signature, then a header chunk of 13 bytes."""
    sizes = data[16:20], data[20:24]
    return data.startswith(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR") and all(
        len(size) == 4 and any(size) for size in sizes
    )


def _is_jpeg(data: bytes) -> bool:
    """ITU T.81, annex B: start of image, a segment with its length, and after it another marker."""
    after = 4 + int.from_bytes(data[4:6], "big")
    return data.startswith(b"\xff\xd8\xff") and data[after : after + 1] == b"\xff"


def _is_webp(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP" and data[12:15] == b"VP8"


def _heif_type(data: bytes) -> str | None:
    """ISO 14496-12: the first box is ``ftyp``, and one of its brands says what it is."""
    length = int.from_bytes(data[:4], "big")
    if data[4:8] != b"ftyp" or not 16 <= length <= min(len(data), 1024):
        return None
    brands = {data[8:12], *(data[at : at + 4] for at in range(16, length, 4))}
    if brands & _HEIC_BRANDS:
        return "image/heic"
    return "image/heif" if brands & _HEIF_BRANDS and b"avif" not in brands else None
