"""Text as input: how long it may be, and the form in which it is judged. Pure.

Whoever sends a text chooses its length and what it is filled with. Each text has a limit, over
which the request is refused; and what judges a question by its words reads it in the form of
``judged``, in which no run of white space or of one mark goes on for long. A text is shown, stored
and given to a model as it was sent.

Postgres stores neither U+0000 nor lone surrogates. Such a character becomes U+E000 and its four hex
digits, and so does U+E000 itself, so that ``restored`` gives back exactly the same text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from helix.errors import BadRequest

LONGEST_EARLIER = 300_000
"""Characters of an earlier question or answer at most, in a request and in an import.

No model writes more in one answer: 65,536 tokens.
"""
LONGEST_QUESTION = 20_000
"""Characters of a question at most, whatever HELIX_MAX_QUESTION_CHARS says."""
LONGEST_TITLE = 200
"""Characters of a conversation's title at most."""
_HOW = ": ask with /ask?q=your%20question"
_MARKS = 3  # of a run of one mark that judging sees: an ellipsis has three
_JOINERS = "\u200c\u200d"  # parts of words in some scripts, and of emoji
_SPACES = re.compile(r"\s{2,}+|[^\S ]")
_RUN = re.compile(r"([^\w\s])\1{3,}+|_{4,}+")


def judged(text: str) -> str:
    """``text`` as it is judged: at most LONGEST_QUESTION characters, without long runs.

    White space of any kind and length is one space, and of more than three equal marks in a row
    three are left. A text that has no such run is itself.
    """
    bare = _SPACES.sub(" ", text)
    return _RUN.sub(lambda run: run[0][:_MARKS], bare)[:LONGEST_QUESTION]


def bounded(name: str, text: str, limit: int) -> str:
    """``text`` as it is.

    Raises:
        BadRequest: it has more than ``limit`` characters.
    """
    if len(text) > limit:
        raise BadRequest(f"{name} has {len(text)} characters; the limit is {limit}")
    return text


def question_of(text: str | None, limit: int, name: str = "question") -> str:
    """The question as it was sent; ``name`` is what its sender calls it.

    Raises:
        BadRequest: it is missing, has nothing visible in it, or is longer than ``limit``.
    """
    if text is None or is_blank(text):
        raise BadRequest(f"{name} is missing or blank{_HOW if name == 'q' else ''}")
    return bounded(name, text, limit)


def visible_line(text: str) -> str:
    """A title or name without invisible characters, on one line.

    U+202E is one, after which ``fdp.exe`` is shown as ``exe.pdf``; so are escapes of a terminal.
    """
    kept = text if text.isprintable() else "".join(filter(_is_seen, text))
    return " ".join(kept.split()).strip(_JOINERS + " ")


def _is_seen(character: str) -> bool:
    kept = character.isspace() or character in _JOINERS
    return kept or unicodedata.category(character) not in ("Cc", "Cf", "Cs")


def is_blank(text: str) -> bool:
    """True if there is nothing visible in ``text``."""
    return all(unicodedata.category(c)[0] in "ZC" for c in text)


_UNSTORABLE = re.compile("[\x00\ue000\ud800-\udfff]")
_ESCAPED = re.compile("\ue000([0-9a-f]{4})")
_ESCAPED_NUL = "\\u0000"

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def storable(text: str) -> str:
    """``text`` without the characters that Postgres refuses."""
    return _UNSTORABLE.sub(lambda found: f"\ue000{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    """The text that ``storable`` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def storable_json(value: Any) -> str:
    """``value`` as JSON that jsonb takes; its strings are ``storable``.

    Raises:
        ValueError: a number in it is not finite.
    """
    text = _encode(value)
    suspect = _ESCAPED_NUL in text or (not text.isascii() and _UNSTORABLE.search(text))
    return _encode(_each(value, storable)) if suspect else text


def restored_json(value: Any) -> Any:
    """``value`` with every string in it ``restored``."""
    return _each(value, restored)


def _each(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _each(inner, change) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each(inner, change) for inner in value]
    return value
