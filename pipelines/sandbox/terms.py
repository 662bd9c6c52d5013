"""BM25's terms in a process of their own: out of the interpreter that files are written in.

Texts go there as JSON. Back come frames ``K`` of rows in the order of the texts, each its length in
4 bytes and itself (helix/storage/packed_terms.py). Rows are checked before they are believed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from helix.sandbox import Frames, NoAnswer
from helix.sandbox.frames import WRONG, Send, frame
from helix.storage.packed_terms import are_terms, digest_of, packed_terms

WORK = "pipelines.sandbox.terms:terms_in_frames"
ROWS = b"K"
_SIZE = struct.Struct(">I")
_FRAME_BYTES = 1024 * 1024  # after which a frame ends; a row has less


def terms_in_frames(data: bytes, options: Mapping[str, Any], send: Send) -> Iterable[bytes]:
    """The frames of the terms of each text that ``data`` lists."""
    language, tenant = options["language"], options["tenant"]
    rows = bytearray()
    for text in json.loads(data):
        packed = packed_terms(text, language, tenant)
        rows += _SIZE.pack(len(packed)) + packed
        if len(rows) >= _FRAME_BYTES:
            send(frame(ROWS, bytes(rows)))
            rows.clear()
    return [frame(ROWS, bytes(rows))]


async def received_rows(frames: Frames, count: int) -> list[bytes]:
    """The rows of an answer that has ``count``; raises as Frames.next does."""
    rows: list[bytes] = []
    while len(rows) < count:
        _, body = await frames.next(_check_length)
        rows += _rows_of(body)
    return rows


def checked(
    rows: Sequence[bytes], texts: Sequence[str], language: str, tenant: str
) -> dict[bytes, bytes]:
    """The terms by what they are of; NoAnswer where one could not be stored."""
    if len(rows) != len(texts) or not all(map(are_terms, rows)):
        raise NoAnswer(WRONG)
    return {digest_of(text, language, tenant): row for text, row in zip(texts, rows, strict=True)}


def _check_length(kind: bytes, length: int) -> None:
    if kind != ROWS or length > 2 * _FRAME_BYTES:
        raise NoAnswer(WRONG)


def _rows_of(body: bytearray) -> Iterator[bytes]:
    """NoAnswer where the body does not end with a row, or has none."""
    at = 0
    while at < len(body) or not at:
        head = body[at : at + _SIZE.size]
        size = _SIZE.unpack(head)[0] if len(head) == _SIZE.size else len(body)
        at += _SIZE.size + size
        if at > len(body):
            raise NoAnswer(WRONG)
        yield bytes(body[at - size : at])
