"""A share as its reader sees it: what they may read themselves, and the words that they are given.

Messages are read twice, as the reader may and as the author may. Nothing is passed on but what is
named here; an id by which the answer could be found elsewhere is not. Why so:
docs/decisions/0094-sharing.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from helix.answering.proof.model import QUOTED
from helix.conversations.attachments import attached_space
from helix.conversations.shares.share_store import Share
from helix.conversations.views import get_conversation, get_message, get_path
from helix.domain.scope import Spaces
from helix.library.access import Library, Row
from helix.storage.statements.messages import DOCUMENTS_OF_PATH

MOST_SHOWN = 200
"""Messages of a shared conversation that are shown: the last ones of its active path."""
_FURTHEST = 100_000
_CITATION = (
    "n", "kind", "title", "document_id", "chunk_id", "start", "end", "quote", "snippet",
    "heading_path", "page", "label", "source_url",
)  # fmt: skip
_BESIDE = re.compile(r"\[\d+\]|[\W_]+")
"""Markers and punctuation, which say nothing beside an answer's statements."""


@dataclass(frozen=True, slots=True)
class Behind:
    """The things that an answer may have words of: in ``closed`` what its reader may not read.

    ``private``: and files or images that were put to the conversation.
    """

    closed: frozenset[int]
    private: bool

    @property
    def is_open(self) -> bool:
        """True if the reader may read all of it."""
        return not (self.closed or self.private)

    def shows(self, citation: Row) -> bool:
        """True if the reader may read the passage."""
        document = citation.get("document_id")
        return self.is_open or (document is not None and document not in self.closed)


async def shared_view(library: Library, share: Share, spaces: Spaces, *, is_public: bool) -> Row:
    """``{"kind", "title", "author", "messages": […], "more"}`` for a reader of ``spaces``.

    A public link's reader may read nothing; its author is not named, and its words are shown.

    Raises:
        NotFound: what is shared is gone.
        StoreUnavailable: the database did not answer.
    """
    theirs = library.of(share.tenant, share.reach(share.author_spaces))
    mine = library.of(share.tenant, share.reach(spaces))
    shown, more = await _messages(mine, share)
    told, _ = await _messages(theirs, share)
    behind = await _behind(theirs, mine, share, shown)
    gives = share.words or is_public
    by_id = {message["id"]: message["response"] or {} for message in told}
    title = (await get_conversation(theirs, share.conversation_id))["title"]
    return {
        "kind": "conversation" if share.message_id is None else "answer",
        "title": title if share.message_id is None else shown[0]["question"],
        "author": None if is_public else share.author_name,
        "messages": [
            _shown(message, by_id.get(message["id"], {}), behind[message["id"]], gives=gives)
            for message in shown
            if message["id"] in behind
        ],
        "more": more,
    }


async def _messages(library: Library, share: Share) -> tuple[list[Row], bool]:
    """The shared messages, as they are read in ``library``; True: there is more above."""
    if share.message_id is not None:
        return [await get_message(library, share.conversation_id, share.message_id)], False
    page = await get_path(library, share.conversation_id, MOST_SHOWN)
    return page["path"], page["earlier"] is not None


async def _behind(
    theirs: Library, mine: Library, share: Share, shown: list[Row]
) -> dict[int, Behind]:
    """By message what is behind its answer, and behind those before it, which it may repeat."""
    if not shown:
        return {}
    values = {"id": share.conversation_id, "leaf": shown[-1]["id"], "most": _FURTHEST}
    path = await theirs.all_data(DOCUMENTS_OF_PATH, values)
    responses = {message["id"]: message["response"] or {} for message in shown}
    documents = [{*row["document_ids"], *_named(responses.get(row["id"], {}))} for row in path]
    unreadable = await mine.unreadable(set[int]().union(*documents))
    private = await attached_space(theirs, share.conversation_id) is not None
    found: dict[int, Behind] = {}
    closed: frozenset[int] = frozenset()
    for row, own in zip(path, documents, strict=True):
        private = private or row["has_images"]
        closed |= own & unreadable
        found[row["id"]] = Behind(closed, private)
    return found


def _named(response: Row) -> Iterator[int]:
    """The documents that a response cites, those of its conversation among them."""
    statements = (response.get("support") or {}).get("statements") or []
    cited: Iterable[Row] = response.get("citations") or []
    spans = (span for statement in statements for span in statement.get("spans") or [])
    for one in (*cited, *spans):
        if one.get("document_id") is not None:
            yield one["document_id"]


def _shown(message: Row, told: Row, behind: Behind, *, gives: bool) -> Row:
    """A message for the reader; ``told``: its response as the author reads it.

    ``gives``: the author gives its words to whoever may not read all that it was made of.
    """
    response: dict[str, Any] = message["response"] or {}
    citations = response.get("citations") or []
    readable = [one for one in citations if behind.shows(one)]
    if message["imported"]:  # what a person may have written is no source
        readable = [one for one in readable if one["document_id"] is not None]
    proven = behind.is_open or _says_no_more(told, behind)
    text = response.get("answer")
    if not (behind.is_open or response.get("reason")):  # a refusal says nothing of any document
        text = told.get("answer") if proven or gives else None
    return {
        "id": message["id"],
        "question": message["question"],
        "status": message["status"],
        "created_at": message["created_at"],
        "answer": text,
        "imported": message["imported"],
        "hidden": bool(response) and text is None,
        "abstained": bool(response.get("abstained")),
        "citations": [{name: one.get(name) for name in _CITATION} for one in readable],
        "closed_sources": len(citations) - len(readable),
        "support": told.get("support") if proven and text is not None else None,
    }


def _says_no_more(told: Row, behind: Behind) -> bool:
    """True if each statement of an answer has the very words of passages that the reader may read.

    One that is borne out in other words may say more than they do, of what its model read besides.
    """
    statements = (told.get("support") or {}).get("statements") or []
    text = told.get("answer")
    if not text or not statements:
        return False
    for statement in reversed(statements):  # what is left is beside them: a heading, a table's head
        text = text[: statement["start"]] + text[statement["end"] :]
    return not _BESIDE.sub("", text) and all(
        one.get("status") == QUOTED and one["spans"] and all(map(behind.shows, one["spans"]))
        for one in statements
    )
