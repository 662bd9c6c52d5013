"""Requests to the host, one line of JSON, and its report of the end, one more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

Send = Callable[[bytes], None]
Work = Callable[[bytes, Mapping[str, Any], Send], Iterable[bytes]]
"""The work of a confined process: bytes and options in, the frames of the answer out.

It may send frames before, such as progress. NoAnswer is the reason why there is no answer."""


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
