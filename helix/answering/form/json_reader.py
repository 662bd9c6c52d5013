"""JSON read as it arrives: the pieces of its strings and its values, each with its path."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

Path = tuple[str, ...]
"""Keys from the outermost in; the elements of a list are all ``*``."""

_SPACE = re.compile(r"[ \t\r\n]+")
_PLAIN = re.compile(r'[^"\\]+')
_SCALAR = re.compile(r"[-+.0-9a-zA-Z]+")
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = frozenset("0123456789abcdefABCDEF")
_DEEPEST = 16
_LONGEST = 200
"""Characters of a key, a number or a word."""


class Malformed(Exception):
    """The text is not JSON."""


class JsonEvent(NamedTuple):
    """Something that was read.

    ``open`` and ``close`` of an object or a list; ``piece`` of a string, and its ``end``;
    ``value``: a number, true, false or null, as Python has it.
    """

    kind: Literal["open", "close", "piece", "end", "value"]
    path: Path
    value: str | float | bool | None = None


_State = Callable[[str, int], tuple[JsonEvent | None, int]]
"""Reads on from an offset: what it met, if anything, and the offset behind that."""


class JsonReader:
    """Reads one JSON object; feed it all text, in any pieces.

    Line breaks within a string are taken as they are, for some servers do not escape them. What
    follows the object is passed over. ``done``: the object has ended.
    """

    def __init__(self) -> None:
        self.done = False
        self._path: list[str] = []
        self._closers: list[str] = []
        self._state: _State = self._value
        self._token = ""
        self._kept = ""  # the token around an escape
        self._is_key = False
        self._high = ""

    def feed(self, text: str) -> Iterator[JsonEvent]:
        """The events of ``text``; raises Malformed."""
        position = 0
        while position < len(text) and not self.done:
            event, position = self._state(text, position)
            if event:
                yield event

    def _next(self, text: str, at: int) -> int:
        space = _SPACE.match(text, at)
        return space.end() if space else at

    def _value(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        """A value begins, or a list ends."""
        at = self._next(text, at)
        character = text[at : at + 1]
        if not self._closers and character not in ("", "{"):
            raise Malformed
        if character and character in "{[":
            return self._opened(character), at + 1
        if character == "]" and self._closers[-1:] == ["]"] and self._path[-1] == "*":
            return self._closed(), at + 1
        if character == '"':
            self._is_key, self._state = False, self._string
            return None, at + 1
        if character and not _SCALAR.match(character):
            raise Malformed
        if character:
            self._token, self._state = "", self._scalar
        return None, at

    def _opened(self, character: str) -> JsonEvent:
        event = JsonEvent("open", tuple(self._path), character)
        if len(self._closers) >= _DEEPEST:
            raise Malformed
        self._closers.append("}" if character == "{" else "]")
        self._path.append("" if character == "{" else "*")
        self._state = self._key if character == "{" else self._value
        return event

    def _closed(self) -> JsonEvent:
        bracket = self._closers.pop()
        self._path.pop()
        self.done = not self._closers
        self._state = self._after
        return JsonEvent("close", tuple(self._path), bracket)

    def _key(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        """A key begins, or an object ends."""
        at = self._next(text, at)
        character = text[at : at + 1]
        if character == "}":
            return self._closed(), at + 1
        if character == '"':
            self._is_key, self._state, self._token = True, self._string, ""
            return None, at + 1
        if character:
            raise Malformed
        return None, at

    def _colon(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        at = self._next(text, at)
        if text[at : at + 1] not in ("", ":"):
            raise Malformed
        if at < len(text):
            self._state = self._value
        return None, at + 1

    def _after(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        """A comma, or the end of what the value was in."""
        at = self._next(text, at)
        character = text[at : at + 1]
        if character == ",":
            self._state = self._key if self._closers[-1] == "}" else self._value
        elif character == self._closers[-1]:
            return self._closed(), at + 1
        elif character:
            raise Malformed
        return None, at + 1

    def _string(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        if plain := _PLAIN.match(text, at):
            return self._piece(plain[0]), plain.end()
        if text[at] == "\\":
            self._token, self._state, self._kept = "\\", self._escape, self._token
            return None, at + 1
        event = self._piece("", ends=True)
        if self._is_key:
            self._path[-1], self._state, event = self._token, self._colon, None
            return event, at + 1
        self._state = self._after
        if event:  # half of a pair, at the end of its string: told, and the end after it
            self._state = self._string_end
            return event, at
        return JsonEvent("end", tuple(self._path)), at + 1

    def _string_end(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        self._state = self._after
        return JsonEvent("end", tuple(self._path)), at + 1

    def _piece(self, text: str, *, ends: bool = False) -> JsonEvent | None:
        """``text`` behind the half of a pair that was waiting for its other half, if any."""
        high, self._high = self._high, ""
        if high and text and "\udc00" <= text[0] <= "\udfff":
            text = json.loads(f'"\\u{ord(high):04x}\\u{ord(text[0]):04x}"') + text[1:]
        else:
            text = high + text
        if text and not ends and "\ud800" <= text[-1] <= "\udbff":
            self._high, text = text[-1], text[:-1]
        if self._is_key:
            self._token += text
            if len(self._token) > _LONGEST:
                raise Malformed
            return None
        return JsonEvent("piece", tuple(self._path), text) if text else None

    def _escape(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        """One more character of an escape: ``\\n``, or the six of ``\\u00e9``."""
        self._token += text[at]
        kind, digits = self._token[1], self._token[2:]
        if kind == "u" and len(digits) < 4 and _HEX.issuperset(digits):
            return None, at + 1
        if kind == "u" and _HEX.issuperset(digits):
            character = chr(int(digits, 16))
        elif kind in _ESCAPED:
            character = _ESCAPED[kind]
        else:
            raise Malformed
        self._token, self._state = self._kept, self._string
        return self._piece(character), at + 1

    def _scalar(self, text: str, at: int) -> tuple[JsonEvent | None, int]:
        if more := _SCALAR.match(text, at):
            self._token += more[0]
            if len(self._token) > _LONGEST:
                raise Malformed
            return None, more.end()
        self._state = self._after
        try:
            value = json.loads(self._token)
        except ValueError:
            raise Malformed from None
        return JsonEvent("value", tuple(self._path), value), at
