"""Gzip with a limit: what is decompressed never takes more room than was given."""

from __future__ import annotations

import zlib


class GunzipTooLarge(Exception):
    """The decompressed data is larger than the limit."""


class Gunzip:
    """A stream of gzip members; no call gives more than what is left of ``largest`` bytes."""

    def __init__(self, largest: int) -> None:
        self._bytes_left = largest
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def feed(self, data: bytes) -> bytes:
        """The text of ``data``. Raises GunzipTooLarge; zlib.error for what is not gzip."""
        parts: list[bytes] = []
        while data:
            part = self._stream.decompress(data, self._bytes_left + 1)
            self._bytes_left -= len(part)
            if self._bytes_left < 0:
                raise GunzipTooLarge
            parts.append(part)
            data = self._stream.unconsumed_tail or self._next_member()
        return b"".join(parts)

    def _next_member(self) -> bytes:
        rest = self._stream.unused_data
        if rest:
            self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return rest

    @property
    def complete(self) -> bool:
        """True where the last member ended where the data did."""
        return self._stream.eof


def gunzip(data: bytes, largest: int) -> bytes:
    """All of ``data``. Raises GunzipTooLarge; zlib.error for what is not gzip or is cut off."""
    stream = Gunzip(largest)
    text = stream.feed(data)
    if not stream.complete:
        raise zlib.error("cut off")
    return text
