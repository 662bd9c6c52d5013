"""Questions of a conversation: each is added to its tree, and answered as any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from helix.answering.gatherer import NeedsModel
from helix.answering.images import ImagesNotSupported, UploadedImage
from helix.answering.memory import next_summary
from helix.answering.pipeline import AnswerPipeline, AnswerRequest
from helix.answering.question import Mode, Question
from helix.answering.reading_right import ReadingRight
from helix.conversations.answer_events import AnswerEvents
from helix.conversations.attachments import attached_space
from helix.conversations.conversation_rows import create, hold
from helix.conversations.images import describe_images, images_of
from helix.conversations.liveness import MessageRow
from helix.conversations.ongoing_answer import OngoingAnswer
from helix.conversations.ongoing_answers import OngoingAnswers
from helix.conversations.tree import (
    AddedMessage,
    NewMessage,
    active_leaf,
    add_message,
    history_of,
    message,
)
from helix.domain.history import History
from helix.domain.scope import Scope
from helix.library.access import Connected, Library
from helix.providers.base import LanguageModel
from helix.settings import Settings
from helix.storage.statements import conversations, messages

Add = Callable[[Connected, NewMessage], tuple[NewMessage, AddedMessage]]
ReadScope = Callable[[dict[str, Any], str], Scope]
"""(stored scope, tenant) to the Scope of the tenant's documents."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question for a conversation, and how it is to be answered.

    ``add`` adds the message inside a transaction, and returns it. ``with_ids``: the response and
    the stream have the ids of conversation and message, as the routes of conversations need.
    ``mode`` None is that of HELIX_MODE. ``images`` are ids of images of the conversation that the
    question is about; None: it says nothing of them. ``model`` None is the conversation's.
    """

    conversation_id: str
    add: Add
    question: str = ""
    scope: dict[str, Any] | None = None
    top_k: int | None = None
    debug: bool = False
    verdict: bool = False
    stream: bool = True
    wait: bool = False
    with_ids: bool = True
    named: str = ""
    mode: Mode | None = None
    time_zone: str = "UTC"
    images: tuple[str, ...] | None = None
    model: str | None = None


def next_in(tenant: str, conversation_id: str, space: int | None = None) -> Add:
    """Adds the next message of a conversation; creates the conversation where there is none.

    It is then one of ``space``.
    """

    def add(connection: Connected, new: NewMessage) -> tuple[NewMessage, AddedMessage]:
        create(connection, tenant, conversation_id, "", {} if space is None else {"space": space})
        hold(connection, tenant, conversation_id)
        leaf = active_leaf(connection, tenant, conversation_id)
        return new, add_message(connection, tenant, conversation_id, new, leaf)

    return add


def in_place_of(tenant: str, conversation_id: str, message_id: int, *, keeps_question: bool) -> Add:
    """Adds a sibling of the message, which keeps what the new one does not say itself."""

    def add(connection: Connected, new: NewMessage) -> tuple[NewMessage, AddedMessage]:
        hold(connection, tenant, conversation_id)
        old = message(connection, tenant, conversation_id, message_id)
        new = replace(
            new,
            question=old["question"] if keeps_question else new.question,
            scope=old["scope"] if new.scope is None else new.scope,
            top_k=old["top_k"] if new.top_k is None else new.top_k,
            attachments=old["attachments"] if new.attachments is None else new.attachments,
        )
        return new, add_message(connection, tenant, conversation_id, new, old["parent_id"])

    return add


@dataclass(frozen=True, slots=True)
class Before:
    """The context of an answer's question: its history, the space of attached documents, images."""

    history: History
    attached: str | None
    images: tuple[UploadedImage, ...] = ()


async def before_answer(library: Library, answer_id: str) -> Before | None:
    """The present history of an answer; None where no message of the tenant has the answer.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    found = await library.data(messages.ANSWERED, {"answer": answer_id})
    if found is None:
        return None
    conversation_id = found["conversation_id"]
    history = await library.change(
        lambda connection: history_of(
            connection, library.tenant, conversation_id, found["parent_id"]
        )
    )
    space = await attached_space(library, conversation_id)
    images = await images_of(library, conversation_id, found["attachments"])
    return Before(history, space, images)


async def space_of_answer(library: Library, answer_id: str) -> str | None:
    """The space of the own documents of an answer's conversation; None where there are none.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    found = await library.data(messages.ANSWERED, {"answer": answer_id})
    return await attached_space(library, found["conversation_id"]) if found else None


@dataclass(frozen=True, slots=True)
class Conversing:
    """The services of this process that questions of conversations are answered with."""

    turns: OngoingAnswers
    answering: AnswerPipeline
    settings: Settings

    async def begin(
        self,
        library: Library,
        asking: Asking,
        read_scope: ReadScope,
        leave: Callable[[], Awaitable[None]] | None = None,
        right: ReadingRight | None = None,
    ) -> OngoingAnswer:
        """Add the message and begin its answer, in a task that goes on by itself.

        Raises:
            Busy: another question of the conversation is being answered.
            NotFound: there is no such conversation, message or image.
            ModelNotAllowed: it names a model that may not be chosen.
            ImagesNotSupported: it is about an image, and the model takes none.
            NeedsModel: it asks for code or a draft, and there is no model.
        """
        mode = asking.mode or self.settings.mode
        model, stored = await self._model_of(library, asking)
        spaces = read_scope(stored | (asking.scope or {}), library.tenant).spaces
        question = Question(
            asking.question, Scope(library.tenant, spaces=spaces).within(library.reach.spaces),
            mode=mode,
            time_zone=asking.time_zone, model=model,
        )  # fmt: skip
        answerer = await self.answering.answerer_of(question)
        llm = answerer.llm
        if asking.images and not llm.sees:
            raise ImagesNotSupported(llm.identity)
        if mode == "write" and llm.quotes_only:
            raise NeedsModel
        new = NewMessage(
            asking.question, question.answer_id, self.turns.owner, asking.scope, asking.top_k,
            llm.identity,
        )  # fmt: skip
        new, added = await library.change(partial(_added, library.tenant, asking, new))
        images = await images_of(library, asking.conversation_id, new.attachments or ())
        space = await attached_space(library, asking.conversation_id)
        scope = read_scope(added.scope, library.tenant).within(library.reach.spaces)
        scope = replace(scope, attached=space)
        question = replace(
            question, text=new.question, scope=scope,
            top_k=new.top_k, history=added.history, images=images, model=answerer.name,
            debug=asking.debug,
        )  # fmt: skip
        turn = self._turn(library, asking, added, question, llm, leave, right)
        self.turns.start(turn)
        return turn

    async def _model_of(
        self, library: Library, asking: Asking
    ) -> tuple[str | None, dict[str, Any]]:
        """The name of the model that the question chooses, or its conversation where it is there.

        With the conversation's scope, whose space may have chosen one too.
        """
        answerers = self.answering.answerers
        if asking.model is not None or answerers is None or len(answerers.by_name) == 1:
            return asking.model, {}
        row = await library.data(conversations.MODEL, {"id": asking.conversation_id})
        if row is None:
            return None, {}
        return row["model"] if row["model"] in answerers.by_name else None, row["scope"]

    def _turn(
        self,
        library: Library,
        asking: Asking,
        added: AddedMessage,
        question: Question,
        llm: LanguageModel,
        leave: Callable[[], Awaitable[None]] | None,
        right: ReadingRight | None,
    ) -> OngoingAnswer:
        ids: dict[str, Any] = {"conversation_id": asking.named or asking.conversation_id}
        if asking.with_ids:
            ids |= {"message_id": added.message_id, "parent_id": added.parent_id}
        events = AnswerEvents(AnswerRequest(
            self.answering, question, verdict=asking.verdict, extra=ids, right=right
        ))  # fmt: skip
        row = MessageRow(library.whole, asking.conversation_id, added.message_id, self.turns.owner)

        async def sum_up(response: dict[str, Any]) -> None:
            answer = response.get("answer") or ""
            asks = _is_half_full(added.history, self.settings)
            with (await self.answering.prompts_of(library.tenant, llm)).active():
                summary = await next_summary(llm, added.history, question.text, answer, asks=asks)
            await row.keep_summary(summary, added.history.summarised + 1)

        first = ids | {"answer_id": question.answer_id, "trace_id": question.trace_id}
        return OngoingAnswer(
            row,
            events.streamed if asking.stream else events.whole,
            ("message", first | {"question": question.text}),
            lambda: events.documents,
            after=sum_up,
            leave=leave,
        )


def _added(
    tenant: str, asking: Asking, new: NewMessage, connection: Connected
) -> tuple[NewMessage, AddedMessage]:
    """Add the message with the images that the question names."""
    if asking.images is not None:
        named = describe_images(connection, tenant, asking.conversation_id, asking.images)
        new = replace(new, attachments=named)
    return asking.add(connection, new)


def _is_half_full(history: History, settings: Settings) -> bool:
    """True if the history fills half of its room in the prompt: from then on a summary is kept."""
    chars = sum(len(turn.question) + len(turn.answer) for turn in history.turns)
    return 2 * chars > settings.history_chars or 4 * len(history.turns) > settings.history_messages
