"""Ids of conversations, titles made from their first question, and errors of both. Pure."""

from __future__ import annotations

import re
import uuid
from hashlib import sha256

from helix.errors import BadRequest
from helix.library.errors import Conflict, NotFound

TITLE_CHARS = 80
"""The longest title made from a question."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,199}")


def new_id() -> str:
    """An id that no conversation has."""
    return uuid.uuid4().hex


def checked_id(text: str) -> str:
    """``text`` if it can be a conversation's id.

    Raises:
        BadRequest: it cannot.
    """
    if not _ID.fullmatch(text):
        raise BadRequest(
            "a conversation's id has 1 to 200 letters, digits or _ . : @ -, a letter or digit first"
        )
    return text


_HASH = re.compile(r"[0-9a-f]{64}")


def id_of(name: str) -> str:
    """The id of the conversation that a client of POST /v1/query calls ``name``.

    It is the name itself where that fits into an address, else SHA-256 of it in hex.
    """
    if _ID.fullmatch(name):
        return name
    return sha256(name.encode(errors="surrogatepass")).hexdigest()


def is_made_of_name(conversation_id: str) -> bool:
    """True if ``id_of`` made this id of a name that does not fit into an address."""
    return bool(_HASH.fullmatch(conversation_id))


def title_of(question: str) -> str:
    """A question as a title: on one line, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS]
    return (cut[: cut.rfind(" ")] if " " in cut[TITLE_CHARS // 2 :] else cut).rstrip() + "…"


class Busy(Conflict):
    """Another question of the conversation is being answered."""

    def __init__(self) -> None:
        super().__init__(
            "another question of this conversation is being answered: wait for it, stop it, or"
            ' send "wait": true'
        )


def no_conversation(conversation_id: str) -> NotFound:
    """The error for an id that no conversation of the tenant has.

    One that was made of a client's own name is not told: nobody knows it.
    """
    named = " ".join(conversation_id.split())  # an address may hold line feeds
    which = "such conversation" if is_made_of_name(named) else f"conversation {named}"
    return NotFound(f"there is no {which}: GET /v1/conversations lists them")


def no_message(message_id: int) -> NotFound:
    """The error for an id that no message of the conversation has."""
    return NotFound(f"there is no message {message_id} in this conversation")
