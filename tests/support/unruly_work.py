"""Work of a confined process that misbehaves (helix/sandbox): each named for what it does."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any

from helix.sandbox.frames import Send


def send(data: bytes, options: Mapping[str, Any], send: Send) -> Iterable[bytes]:
    """Answers with what it is given."""
    return [data]


def spin(data: bytes, options: Mapping[str, Any], send: Send) -> Iterable[bytes]:
    while True:
        pass


def hog(data: bytes, options: Mapping[str, Any], send: Send) -> Iterable[bytes]:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def crash(data: bytes, options: Mapping[str, Any], send: Send) -> Iterable[bytes]:
    ctypes.string_at(0)
    raise AssertionError
