"""Server-sent events, parsed from bytes by the rules of the standard.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation. A line
ends at CR, LF or both, and at nothing else: JSON may hold U+2028 or U+0085 as they are, where
``str.splitlines`` (and with it ``httpx.Response.iter_lines``) would cut it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from helix.client.errors import InvalidResponse

_LINE_END = re.compile(rb"\r\n|\n|\r(?=[\s\S])")
"""A carriage return that is the last byte so far may be half of a line's end."""


@dataclass(frozen=True)
class Frame:
    """One event: its name ("message" where it has none), its data as sent, the last id so far."""

    event: str
    data: str
    id: str = ""

    def json(self) -> Any:
        """The data, which Helix writes as JSON.

        Raises:
            InvalidResponse: it is none.
        """
        try:
            return json.loads(self.data)
        except ValueError:
            raise InvalidResponse("the server sent an event that is no JSON") from None


class FrameParser:
    """Parses a stream of bytes into frames; the bytes may be divided anywhere."""

    def __init__(self) -> None:
        self._rest = b""
        self._event = ""
        self._data: list[str] = []
        self._id = ""

    def feed(self, received: bytes) -> Iterator[Frame]:
        """The frames that end in these bytes."""
        *lines, self._rest = _LINE_END.split(self._rest + received)
        for line in lines:
            if line:
                self._take(line.decode("utf-8", "replace"))
                continue
            if self._data:
                yield Frame(self._event or "message", "\n".join(self._data), self._id)
            self._event, self._data = "", []

    def _take(self, line: str) -> None:
        """One field; a line that begins with a colon is a comment."""
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "event":
            self._event = value
        elif key == "data":
            self._data.append(value)
        elif key == "id" and "\0" not in value:
            self._id = value
