"""Export and import of conversations: the whole tree as JSON, or its active path as Markdown."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from helix.answering.images import KINDS, UploadedImage, image_type
from helix.conversations.conversation_rows import create
from helix.conversations.images import MOST_AT_ONCE, add_image, all_images, describe_images
from helix.conversations.imported_answer import (
    Place,
    are_citations,
    is_support,
    known_documents,
    listed_documents,
    verified_places,
    verified_response,
)
from helix.conversations.names import new_id
from helix.conversations.tree import NewMessage, add_message, switch
from helix.conversations.views import all_messages, get_conversation
from helix.domain.citations import is_refusal
from helix.domain.input_text import (
    LONGEST_EARLIER,
    LONGEST_QUESTION,
    LONGEST_TITLE,
    bounded,
    is_blank,
)
from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row
from helix.library.pagination import check_name
from helix.library.uploads import clean_name

FORMAT = "helix-conversation-1"
MOST_MESSAGES = 10_000
_NO_EXPORT = f'this is no exported conversation: send {{"format": "{FORMAT}", …}} as it came'
_ENDED = ("done", "failed", "stopped", "interrupted")
# A line of an answer that reads like one of this format, or is escaped already, gets a backslash.
_OURS = re.compile(r"^(\\*(?:#|> ?|\*Sources))", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*(?:#|> ?|\*Sources))", re.MULTILINE)
_TURN = re.compile(
    r"^## Question\n\n((?:>[^\n]*\n)+)\n(?:\*Image: [^\n]*\n\n)*"
    r"## Answer(?: \((failed|stopped|interrupted)\))?\n\n"
    r"(.*?)(?=^\*Sources|^## Question\n|\Z)((?:\*Sources:\*\n\n(?:- [^\n]+\n)+)?)",
    re.MULTILINE | re.DOTALL,
)
_SOURCE = re.compile(r"^- \[(\d{1,3})\] (.*)$", re.MULTILINE)

ReadTurn = tuple[str, str, list[Row], str]
"""A question, its answer, the citations of this, which have no place, and its status."""


async def export_json(library: Library, conversation_id: str) -> Row:
    """The conversation with all its messages, parents before children, and its images in Base64.

    Raises:
        NotFound: there is none of this id.
    """
    conversation = await get_conversation(library, conversation_id)
    messages = await all_messages(library, conversation_id)
    images = [
        {"name": row["name"], "data": base64.b64encode(row["data"]).decode()}
        for row in await all_images(library, conversation_id)
    ]
    return {
        "format": FORMAT,
        "title": conversation["title"],
        "scope": conversation["scope"],
        "model": conversation["model"],
        "messages": [row for row in messages if row["status"] in _ENDED],
        "images": images,
    }


async def export_markdown(library: Library, conversation_id: str) -> str:
    """The active path as Markdown: questions, answers and their citations.

    Raises:
        NotFound: there is none of this id.
    """
    return markdown_of(*await titled_path(library, conversation_id))


async def titled_path(library: Library, conversation_id: str) -> tuple[str, list[Row]]:
    """The title, and the ended messages of the active path, in order; raises as ``export_json``."""
    conversation = await get_conversation(library, conversation_id)
    found = {row["id"]: row for row in await all_messages(library, conversation_id)}
    path: list[Row] = []
    at = conversation["active"]
    while at is not None:
        path += [found[at]] * (found[at]["status"] in _ENDED)
        at = found[at]["parent_id"]
    return conversation["title"], path[::-1]


def markdown_of(title: str, path: list[Row]) -> str:
    """Messages as Markdown, one after another; ``turns_of_markdown`` reads it back."""
    return "\n".join([f"# {title or 'Conversation'}\n", *map(_turn, path)])


def _turn(row: Row) -> str:
    question = "".join(f"> {line}\n" for line in row["question"].split("\n"))
    response = row["response"] or {}
    answer = _OURS.sub(r"\\\1", response.get("answer") or "")
    sources = [_source(citation) for citation in response.get("citations") or ()]
    cited = "*Sources:*\n\n" + "".join(sources) if sources else ""
    shown = "".join(f"*Image: {image['name']}*\n\n" for image in row["attachments"])
    ended = "" if row["status"] == "done" else f" ({row['status']})"  # it looks whole else
    return f"## Question\n\n{question}\n{shown}## Answer{ended}\n\n{answer}\n\n{cited}"


def _source(citation: dict[str, Any]) -> str:
    place = f", {citation['label']}" if citation.get("label") else ""
    quote = " ".join((citation.get("quote") or "").split())
    said = f": “{quote}”" if quote else ""
    return f"- [{citation['n']}] {citation.get('title') or 'a deleted document'}{place}{said}\n"


def _citation(number: int, told: str) -> Row:
    """The citation of a line of ``_source``, without its place."""
    title, _, quote = told.partition(": “")
    return {"n": number, "title": title, "quote": quote.removesuffix("”")}


def turns_of_markdown(text: str) -> tuple[str, list[ReadTurn]]:
    """The title and the turns of an ``export_markdown``.

    Raises:
        BadRequest: there is no question in it.
    """
    text = text.replace("\r\n", "\n")
    title = text.partition("\n")[0].removeprefix("# ").strip() if text.startswith("# ") else ""
    turns = [
        (re.sub(r"^> ?", "", question, flags=re.MULTILINE).removesuffix("\n"),
         _ESCAPED.sub(r"\1", answer).removesuffix("\n").removesuffix("\n").removesuffix("\n"),
         [_citation(int(n), told) for n, told in _SOURCE.findall(cited)], status or "done")
        for question, status, answer, cited in _TURN.findall(text)
    ]  # fmt: skip
    if not turns:
        raise BadRequest("there is no `## Question` with a quoted line and an `## Answer` in it")
    return title, turns


async def import_turns(
    library: Library, title: str, turns: list[ReadTurn], longest: int = LONGEST_QUESTION
) -> str:
    """Create a conversation of consecutive turns; returns its id.

    Raises:
        BadRequest: as ``import_json``.
    """
    messages = [
        {"id": n, "parent_id": n - 1 or None, "question": question, "status": status,
         "response": {"answer": answer, "citations": cited, "abstained": is_refusal(answer)}}
        for n, (question, answer, cited, status) in enumerate(turns, 1)
    ]  # fmt: skip
    exported = {"format": FORMAT, "title": title, "messages": messages}
    return await import_json(library, exported, longest)


async def import_json(
    library: Library,
    exported: Any,
    longest: int = LONGEST_QUESTION,
    models: Container[str] = (),
) -> str:
    """Create a conversation from an ``export_json``; returns its id.

    It keeps its choice of a model where that is one of ``models``.

    Anybody may have written it: an answer keeps no proof, and its links where their quote is found
    (imported_answer.py). It goes with the documents that it has words of. Its texts are held to the
    limits of requests: a question to ``longest`` characters, an answer to LONGEST_EARLIER.

    Raises:
        BadRequest: it is no export, its messages do not form a tree, a text of it is too long or
            blank, or it has a file among its images that is none.
        NotFound: a message has an image that is not in the export.
    """
    if not isinstance(exported, dict) or exported.get("format") != FORMAT:
        raise BadRequest(_NO_EXPORT)
    messages, title = exported.get("messages"), exported.get("title", "")
    images = [_image(one) for one in _listed(exported.get("images"))]
    if not isinstance(messages, list) or not isinstance(title, str):
        raise BadRequest(_NO_EXPORT)
    title = check_name("title", title, LONGEST_TITLE)
    if len(messages) > MOST_MESSAGES:
        raise BadRequest(f"it has {len(messages)} messages; the limit is {MOST_MESSAGES}")
    chosen = model_of_export(exported)
    model = chosen if chosen in models else ""
    known = await known_documents(library, messages)
    conversation_id = new_id()

    def add_all(connection: Connected) -> None:
        create(connection, library.tenant, conversation_id, title, {}, model)
        for image, name in images:
            add_image(connection, library.tenant, conversation_id, image, name)
        checked = [_checked(message, longest) for message in messages]
        cited = (one for new in checked for one in new.response.get("citations") or ())
        places = verified_places(connection, library.tenant, cited)
        ids: dict[int | None, int | None] = {None: None}
        active = None
        for new, message in zip(checked, messages, strict=True):
            number, parent = message["id"], message.get("parent_id")
            if number in ids or parent not in ids:
                raise _no_message()
            if shown := _shown(message):
                named = describe_images(connection, library.tenant, conversation_id, shown)
                new = replace(new, attachments=named)
            new = _linked(new, places, known.intersection(listed_documents(message)))
            added = add_message(connection, library.tenant, conversation_id, new, ids[parent])
            ids[number] = added.message_id
            active = added.message_id if message.get("active") else active
        if active is not None:
            switch(connection, library.tenant, conversation_id, active)

    await library.change(add_all)
    return conversation_id


def model_of_export(exported: Any) -> str:
    """The name of the model that the exported conversation chose; empty where it chose none.

    Raises:
        BadRequest: it is no text.
    """
    model = exported.get("model") if isinstance(exported, dict) else None
    if not isinstance(model, str | None):
        raise BadRequest(_NO_EXPORT)
    return model or ""


def _linked(new: NewMessage, places: Mapping[Place, Row], known: set[int]) -> NewMessage:
    """``new`` with its verified response, and the documents that this has words of."""
    if not new.response:
        return replace(new, document_ids=sorted(known))
    response = verified_response(new.response, places)
    hashes = {
        one["document_id"]: one.pop("content_hash")
        for one in response["citations"]
        if one["document_id"] is not None
    }
    cited = {str(number): content for number, content in hashes.items()}
    return replace(new, response=response, cited=cited, document_ids=sorted(known | hashes.keys()))


def _no_message() -> BadRequest:
    return BadRequest("a message of it has no question, id, status or earlier parent")


def _checked(message: Any, longest: int) -> NewMessage:
    """An exported message, its response as it came."""
    kept = message if isinstance(message, dict) else {}
    question, number, parent = kept.get("question"), kept.get("id"), kept.get("parent_id")
    status, response = kept.get("status"), kept.get("response")
    if (
        not isinstance(question, str) or type(number) is not int or status not in _ENDED
        or type(parent) not in (int, type(None)) or not isinstance(response, dict | None)
    ):  # fmt: skip
        raise _no_message()
    _check_texts(number, question, response or {}, longest)
    return NewMessage(
        question, str(kept.get("answer_id") or "imported")[:64], status=status,
        model=str(kept.get("model") or "")[:200], response=response or {},
        error=str(kept.get("error") or "")[:1000],
    )  # fmt: skip


def _check_texts(number: int, question: str, response: dict[str, Any], longest: int) -> None:
    """Return where the texts of message ``number`` are ones that a request may have."""
    if is_blank(question):
        raise BadRequest(f"the question of message {number} is blank")
    bounded(f"the question of message {number}", question, longest)
    answer, citations = response.get("answer"), response.get("citations")
    if not isinstance(answer, str | None) or not isinstance(citations, list | None):
        raise BadRequest(f"the response of message {number} has no answer of text or no citations")
    if not are_citations(citations) or not is_support(response.get("support")):
        raise BadRequest(f"a citation or a proof of message {number} is none that an export has")
    bounded(f"the answer of message {number}", answer or "", LONGEST_EARLIER)


def _listed(found: Any) -> list[Any]:
    if found is not None and not isinstance(found, list):
        raise BadRequest(_NO_EXPORT)
    return found or []


def _image(exported: Any) -> tuple[UploadedImage, str]:
    """(image, its name) of an exported image; its type is told by its bytes."""
    kept = exported if isinstance(exported, dict) else {}
    try:
        data = base64.b64decode(str(kept.get("data")), validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("an image of it is not in Base64") from None
    kind = image_type(data)
    if kind is None:
        raise BadRequest(f"an image of it is no {KINDS}")
    return UploadedImage(data, kind), clean_name(str(kept.get("name") or "image"))


def _shown(message: Any) -> list[str]:
    """The ids of the images of an exported message."""
    found = [one for one in _listed(message.get("attachments")) if isinstance(one, dict)]
    return [str(one.get("id")) for one in found[:MOST_AT_ONCE]]
