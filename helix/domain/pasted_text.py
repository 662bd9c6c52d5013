"""A long message as a question and the text pasted beside it, told apart by structure. Pure.

Clients that put a text and a question together put a blank line between them, or the question on a
line of its own behind a text from a pipe. No word is looked at.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
_ASKS = ("?", "？", "؟", ":", "：")
"""Marks at the end of a question or an announcement, in scripts with marks of their own."""
_SHARE = 4
"""A question has this part of the longest question at most: 1,000 characters of 4,000."""


class Pasted(NamedTuple):
    """A question, and the pasted text that it is asked of."""

    question: str
    text: str


def pasted_in(message: str, limit: int) -> Pasted | None:
    """The parts of a message of over ``limit`` characters; None where nothing tells them apart.

    The question is the first paragraph or the last one, whichever is short. Behind a last paragraph
    that is long, a line that white space leads is one: a pipe ends its text with a line feed, and
    the question is put behind it. Where both ends are short, the last one is the question, unless
    the first alone ends with a question mark or a colon.
    """
    if len(message) <= limit:
        return None
    most = limit // _SHARE
    first, last = _first(message, most), _last(message, most)
    if first and last:
        announced = first.question.endswith(_ASKS) and not last.question.endswith(_ASKS)
        return first if announced else last
    return first or last


def _first(message: str, most: int) -> Pasted | None:
    begins = len(message) - len(message.lstrip())
    blank = _BLANK.search(message, begins)
    if blank is None:
        return None
    return _checked(message[: blank.start()], message[blank.end() :], most)


def _last(message: str, most: int) -> Pasted | None:
    whole = message.rstrip()
    blanks = list(_BLANK.finditer(whole))
    if blanks:
        found = _checked(whole[blanks[-1].end() :], whole[: blanks[-1].start()], most)
        if found:
            return found
    text, _, line = whole.rpartition("\n")
    return _checked(line, text, most) if line[:1].isspace() else None


def _checked(question: str, text: str, most: int) -> Pasted | None:
    question, text = question.strip(), text.strip()
    asks = any(map(str.isalnum, question)) and len(question) <= most
    return Pasted(question, text) if asks and text else None
