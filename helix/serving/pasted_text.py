"""The last message of a client's list: a question, or a question and a text that it is asked of."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fastapi import HTTPException, Request

from helix.conversations.pasted_text import PastedText, put_pasted, store_pasted, until_read
from helix.domain.history import History
from helix.domain.input_text import question_of
from helix.domain.scope import Scope
from helix.overload.entry import asker
from helix.serving.caller import Caller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected

LAST = "the last message"
_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
_ASKS = ("?", "？", "؟", ":", "：")
"""Marks at the end of a question or an announcement, in scripts with marks of their own."""
_SHARE = 4
"""A question has this part of the longest question at most: 1,000 characters of 4,000."""


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


class Pasted(NamedTuple):
    """A question, and the pasted text that it is asked of."""

    question: str
    text: str


def pasted_in(message: str, limit: int) -> Pasted | None:
    """The parts of a message of over ``limit`` characters; None where nothing tells them apart.

    Clients that put a text and a question together put a blank line between them, or the question
    on a line of its own behind a text from a pipe. No word is looked at.
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
