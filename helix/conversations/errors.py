"""The errors of requests about conversations."""

from __future__ import annotations

from helix.conversations.names import is_made_of_name
from helix.library.errors import Conflict, NotFound


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
