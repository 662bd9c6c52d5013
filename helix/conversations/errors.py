"""The errors of requests about conversations."""

from __future__ import annotations

from helix.library.errors import Conflict, NotFound


class Busy(Conflict):
    """Another question of the conversation is being answered."""

    def __init__(self) -> None:
        super().__init__(
            "another question of this conversation is being answered: wait for it, stop it, or"
            ' send "wait": true'
        )


def no_conversation(conversation_id: str) -> NotFound:
    """The error for an id that no conversation of the tenant has."""
    named = " ".join(conversation_id.split())  # an address may hold line feeds
    return NotFound(f"there is no conversation {named}: GET /v1/conversations lists them")


def no_message(message_id: int) -> NotFound:
    """The error for an id that no message of the conversation has."""
    return NotFound(f"there is no message {message_id} in this conversation")
