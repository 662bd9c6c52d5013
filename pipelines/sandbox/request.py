"""What the host is asked for: one line of JSON, and what it tells of the end: one more."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True)
class _JsonLine:
    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> Self:
        return cls(**json.loads(line))


@dataclass(frozen=True)
class Request(_JsonLine):
    """Read ``size`` bytes by ``reader`` (``module:function``) within limits.

    It comes with two file descriptors: the connection the bytes come over and the answer goes back
    on, and the one that the ``ProcessEnd`` goes to; when that is closed, nobody wants the answer.
    """

    reader: str
    size: int
    seconds: int
    memory_mb: int
    text_chars: int

    @property
    def out_of_memory(self) -> str:
        return f"needs more than {self.memory_mb} MB of memory to read (HELIX_READ_MB)"

    @property
    def out_of_time(self) -> str:
        return f"took longer than {self.seconds} s to read (HELIX_READ_SECONDS)"


@dataclass(frozen=True)
class ProcessEnd(_JsonLine):
    """How the process of a file ended: by which signal (0: by itself), and its most memory.

    ``out_of_memory`` is whether it printed so.
    """

    signal: int
    timed_out: bool
    peak_mb: int
    out_of_memory: bool
