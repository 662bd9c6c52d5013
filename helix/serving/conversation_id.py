"""The id of the conversation that a request names: by that id, or as its caller calls it."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends

from helix.conversations.names import id_of
from helix.serving.authentication import CurrentCaller
from helix.serving.caller import Caller
from helix.storage.statements.conversations import MODEL

_GIVEN = re.compile("[0-9a-f]{32}")
"""An id that the server gave."""


async def own_id(caller: Caller, name: str) -> str:
    """The id of the conversation that ``caller`` calls ``name``.

    A person, or a key of some spaces, has names of its own: what others call theirs keeps none from
    it, and it is not told. One that is there under its plain name is that one.
    """
    plain = id_of(name)
    if not caller.owner or _GIVEN.fullmatch(plain):
        return plain
    if await caller.library.data(MODEL, {"id": plain}):
        return plain
    return id_of(f"{caller.owner} {plain}")


async def _named(caller: CurrentCaller, conversation_id: str) -> str:
    return await own_id(caller, conversation_id)


ConversationId = Annotated[str, Depends(_named)]
"""The id of the conversation that an address names."""
