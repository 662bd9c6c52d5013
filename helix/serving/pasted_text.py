"""The last message of a client's list: a question, or a question and a text that it is asked of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fastapi import HTTPException, Request

from helix.conversations.pasted_text import PastedText, put_pasted, store_pasted, until_read
from helix.domain.history import History
from helix.domain.input_text import question_of
from helix.domain.pasted_text import pasted_in
from helix.domain.scope import Scope
from helix.overload.entry import asker
from helix.serving.caller import Caller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected

LAST = "the last message"


@dataclass(frozen=True, slots=True)
class LastMessage:
    """The question of a message, and the text that was pasted beside it; None: there was none."""

    question: str
    pasted: PastedText | None = None

    def within(self, scope: Scope) -> Scope:
        """``scope``, and the pasted text beside it."""
        return replace(scope, attached=self.pasted.space) if self.pasted else scope

    @property
    def extra(self) -> dict[str, Any]:
        """Fields for the answer's JSON: ``pasted``, the id of the text's document (no page)."""
        return {"pasted": self.pasted.document_id} if self.pasted else {}


async def last_message(
    request: Request, caller: Caller, text: str, conversation_id: str | None = None
) -> LastMessage:
    """The question of ``text``; a text that was pasted beside it is stored and read first.

    With ``conversation_id`` it is put to that conversation, which keeps it.

    Raises:
        BadRequest: it is blank, or too long and no question can be told apart from the rest.
        LimitReached: so much may not be uploaded today.
        NotRead: the text is not read in time.
        StoreUnavailable: the database did not answer.
    """
    limit = caller.services.settings.max_question_chars
    parts = pasted_in(text, limit)
    if parts is None:
        return LastMessage(question_of(text, limit, LAST))
    async with asker(request).upload(len(parts.text.encode("utf-8", "replace"))):
        if conversation_id is None:
            pasted = await store_pasted(caller.library, parts.text)
        else:
            pasted = await put_pasted(caller.library, conversation_id, parts.text)
    if pasted.run_id is not None:
        caller.changed(f"run {pasted.run_id}")
        caller.services.on_run_created()

    async def read() -> bool:
        await until_read(caller.library, pasted)
        return True

    if await run_unless_disconnected(request, read()) is None:
        raise HTTPException(CLIENT_CLOSED_REQUEST, "the client left")
    return LastMessage(question_of(parts.question, limit, LAST), pasted)


def without_pasted(history: History | None, limit: int) -> History | None:
    """``history`` with the questions alone of turns into which a text was pasted."""
    if history is None:
        return None
    turns = []
    for turn in history.turns:
        parts = pasted_in(turn.question, limit)
        turns.append(replace(turn, question=parts.question) if parts else turn)
    return replace(history, turns=tuple(turns))
