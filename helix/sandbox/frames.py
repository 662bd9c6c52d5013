"""Frames that a confined process sends back: a kind of one byte, a length and a body.

The length is 4 bytes, big-endian. ``R``, which any process may send, is the reason why there is no
answer, in UTF-8; the other kinds are the work's own. The parser of a hostile file may have been
taken over, so whoever takes frames checks each length before the body is read.
"""

from __future__ import annotations

import re
import struct

HEAD = struct.Struct(">cI")
REASON = b"R"
LONGEST_REASON = 500  # characters
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that Postgres cannot hold."""
WRONG = "the reader marked it wrongly"


class NoAnswer(Exception):
    """Work that was not done for what its input is or would take; the message is the reason."""


def head(kind: bytes, length: int) -> bytes:
    """The head of a frame, before a body of that length."""
    return HEAD.pack(kind, length)


def frame(kind: bytes, body: bytes) -> bytes:
    """A frame whole; for large bodies ``head`` saves the copy."""
    return head(kind, len(body)) + body


def reason_frame(reason: str) -> bytes:
    """The frame of a reason, which is cut to LONGEST_REASON."""
    return frame(REASON, one_line(reason).encode())


def reason_of(body: bytes) -> str:
    """The reason of a frame's body."""
    return one_line(body.decode("utf-8", "replace")) or "the reader gave no reason"


def one_line(said: str) -> str:
    """One line that can be stored; AttributeError for what is no text."""
    return " ".join(UNSTORABLE.sub("\ufffd", said[: 2 * LONGEST_REASON]).split())[:LONGEST_REASON]
