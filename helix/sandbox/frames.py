"""Requests to a confined process, and frames that it sends back: a kind, a length and a body.

The kind is one byte, the length 4 bytes, big-endian. ``R``, which any process may send, is the
reason why there is no answer, in UTF-8; the other kinds are the work's own. The parser of a hostile
file may have been taken over, so whoever takes frames checks each length before the body is read.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

HEAD = struct.Struct(">cI")
REASON = b"R"
LONGEST_REASON = 500  # characters
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that Postgres cannot hold."""
WRONG = "the reader marked it wrongly"
Send = Callable[[bytes], None]
Work = Callable[[bytes, Mapping[str, Any], Send], Iterable[bytes]]
"""The work of a confined process: bytes and options in, the frames of the answer out.

It may send frames before, such as progress. NoAnswer is the reason why there is no answer."""


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


@dataclass(frozen=True)
class _JsonLine:
    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> Self:
        return cls(**json.loads(line))


@dataclass(frozen=True)
class Request(_JsonLine):
    """Do ``work`` (``module:function``, a Work) over ``size`` bytes, within limits.

    ``modules`` are imported by the host, once for all that come after. ``out_of_memory`` and
    ``out_of_time`` are the reasons to tell. A request comes with two file descriptors: the
    connection the bytes come over and the answer goes back on, and the one that the ``ProcessEnd``
    goes to; when that is closed, nobody wants the answer.
    """

    work: str
    size: int
    seconds: int
    memory_mb: int
    out_of_memory: str
    out_of_time: str
    options: dict[str, Any]
    modules: list[str]


@dataclass(frozen=True)
class ProcessEnd(_JsonLine):
    """The end of a file's process: by which signal (0: by itself), and its most memory.

    ``out_of_memory`` is whether it printed so.
    """

    signal: int
    timed_out: bool
    peak_mb: int
    out_of_memory: bool
