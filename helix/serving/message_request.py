"""The bodies of requests that ask in a conversation."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from helix.answering.question import Mode
from helix.conversations.images import MOST_AT_ONCE
from helix.serving.query_request import ANSWERS_BY, MODES, ModelName, QueryRequest, TimeZone

_ImageId = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class TurnOptions(BaseModel):
    """Options of a turn's answer; what is null counts as left out."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    tenant_id: str | None = None
    debug: bool | None = Field(None, description="Tell how the answer came about")
    stream: bool | None = Field(None, description="false: answer as one JSON")
    verdict: bool | None = Field(None, description="Have a judge look at the whole answer")
    wait: bool | None = Field(
        None, description="Wait for the question that is being answered; else 409"
    )
    mode: Mode | None = Field(None, description=MODES)
    time_zone: TimeZone | None = Field(None, description="The asker's, for an agent; UTC")
    model: ModelName | None = Field(None, description=ANSWERS_BY)


class MessageRequest(QueryRequest):
    """A question in a conversation: that of POST /v1/query, and where it goes."""

    stream: bool | None = Field(None, description="false: answer as one JSON")
    wait: bool | None = Field(
        None, description="Wait for the question that is being answered; else 409"
    )
    parent_id: int | None = Field(
        None, description="The message that it follows; the active leaf otherwise"
    )
    images: list[_ImageId] | None = Field(
        None, max_length=MOST_AT_ONCE, description="What it is about: images of the conversation"
    )
