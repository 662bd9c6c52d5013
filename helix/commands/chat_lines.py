"""The meaning of a line of ``helix chat``: a question, or a command that begins with ``/``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from helix.domain.input_text import is_blank

Kind = Literal[
    "ask", "again", "edit", "switch", "list", "image", "new", "help", "quit", "nothing", "unknown"
]

HELP = """\
A line is a question. Ctrl-C stops its answer, Ctrl-D or /quit ends.
/again           answer the last question again
/edit QUESTION   ask something else in its place; both stay
/switch          go to the next of what was asked in its place
/list            the questions of the conversation; /again #2 means the second of them,
                 as /edit #2 QUESTION and /switch #2 do
/image PATH      the next question is about this image; of several, about all
/new             begin another conversation"""

_NAMES: dict[str, Kind] = {
    "/again": "again", "/edit": "edit", "/switch": "switch", "/list": "list", "/new": "new",
    "/image": "image",
    "/help": "help", "/quit": "quit", "/exit": "quit",
}  # fmt: skip
_NUMBER = re.compile(r"#(\d{1,9})(?:\s+|$)")


@dataclass(frozen=True)
class ChatLine:
    """A line as it was read. ``number`` is that of a question, from 1; None: the last."""

    kind: Kind
    text: str = ""
    number: int | None = None


def chat_line(line: str) -> ChatLine:
    """The meaning of ``line``; ``unknown`` is a command that does not exist or lacks words.

    A question may begin with ``/`` where no single word follows it, as in ``/etc/hosts``.
    """
    text = line.strip()
    if is_blank(text):
        return ChatLine("nothing")
    name, _, rest = text.partition(" ")
    kind = _NAMES.get(name)
    if kind is None:
        return ChatLine("unknown" if re.fullmatch(r"/[a-z]+", name) else "ask", text)
    rest, number = rest.strip(), None
    if kind in ("again", "edit", "switch") and (match := _NUMBER.match(rest)):
        rest, number = rest[match.end() :], int(match[1])
    if bool(rest) != (kind in ("edit", "image")):
        return ChatLine("unknown", text)
    return ChatLine(kind, rest, number)
