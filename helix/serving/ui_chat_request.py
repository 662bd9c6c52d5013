"""The body of POST /v1/ui/chat: what the AI SDK's transport sends, and what Helix adds to it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from helix.answering.question import Mode
from helix.errors import BadRequest
from helix.protocols.messages import MOST_PARTS, Message, latest
from helix.serving.body_problems import first_problem, read_body
from helix.serving.query_request import (
    ANSWERS_BY,
    MODES,
    DocumentId,
    Filters,
    ModelName,
    TimeZone,
)


class _Lenient(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Part(_Lenient):
    type: str
    text: str | None = None


class _UiMessage(_Lenient):
    role: str
    parts: list[_Part] = Field(default_factory=list, max_length=MOST_PARTS)

    def message(self) -> Message:
        """The message as every protocol's are read; raises BadRequest for what is not text."""
        if self.role == "user" and any(part.type == "file" for part in self.parts):
            raise BadRequest("a message holds a file: only text is read here")
        texts = (part.text for part in self.parts if part.type == "text")
        return Message(self.role, "\n".join(text for text in texts if text))


class UiChatRequest(_Lenient):
    """The chat's ``id`` and all its messages; the rest is Helix's own, and may be left out."""

    id: str = Field(min_length=1, max_length=200)
    messages: Annotated[list[_UiMessage], BeforeValidator(latest), Field(min_length=1)]
    resume: bool = Field(False, description="Go on where the client leaves; it may come back")
    document_ids: list[DocumentId] | None = Field(None, min_length=1, max_length=1000)
    filters: Filters | None = None
    top_k: int | None = Field(None, ge=1, le=50)
    mode: Mode | None = Field(None, description=MODES)
    time_zone: TimeZone | None = Field(None, description="The asker's, for an agent; UTC")
    model: ModelName | None = Field(None, description=ANSWERS_BY)
    tenant_id: str | None = None

    @property
    def said(self) -> list[Message]:
        """The messages, oldest first."""
        return [message.message() for message in self.messages]


async def ui_chat_request(body: bytes) -> UiChatRequest:
    """The request in ``body``.

    Raises:
        BadRequest: one line that names the first key which is missing or malformed.
    """
    try:
        return await read_body(body, UiChatRequest)
    except ValidationError as error:
        place, problem = first_problem(error)
        raise BadRequest(f"{place or 'the body'}: {problem}") from None
