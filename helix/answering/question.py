"""One question, which goes whole from whoever asks it to its answer."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass, field
from typing import Literal

from helix.answering.images import UploadedImage
from helix.domain.followups import FollowUp
from helix.domain.history import History
from helix.domain.prompt import Before
from helix.domain.scope import Scope
from helix.domain.turns import Turn
from helix.telemetry.tracing import request_trace_id

Mode = Literal["answer", "agent", "write"]
"""``answer``: sources from one search; ``agent``: sources gathered by tools; ``write``: code and
drafts, from the sources of one search."""


@dataclass(frozen=True)
class Question:
    """One question: its text, the documents it may be answered from, and its answer's ids.

    ``top_k`` is the most chunks to answer from; None leaves that to the retriever. ``history`` is
    what came before in its conversation; None where it is asked outside of one. Both ids are 32
    hex characters; ``trace_id`` is the current request's, a random one outside of a request.
    ``mode`` says who gathers the sources; ``time_zone`` is the asker's, an IANA name. A question
    with ``images`` is about them alone: no document is searched. ``model`` is the name of the model
    that is to answer (HELIX_MODELS); None: the tenant's, or that of the settings. ``debug``: all
    candidates of the search are told. ``marks``: a statement without a marker gets that of the
    source which bears it out, if one does.
    """

    text: str
    scope: Scope = field(default_factory=Scope)
    top_k: int | None = None
    history: History | None = None
    answer_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    trace_id: str = field(default_factory=lambda: request_trace_id() or secrets.token_hex(16))
    mode: Mode = "answer"
    time_zone: str = "UTC"
    images: tuple[UploadedImage, ...] = ()
    model: str | None = None
    debug: bool = False
    marks: bool = False


@dataclass(frozen=True)
class ReadQuestion:
    """A question as it is understood, in its conversation where it has one.

    ``judged`` is its text as it is judged (helix.domain.input_text); ``follow_up`` how it is
    searched, after those before it; ``turn`` its place in its conversation, None outside of one.
    """

    asked: Question
    judged: str
    follow_up: FollowUp
    turn: Turn | None = None

    @property
    def text(self) -> str:
        """The question as it is understood."""
        return self.follow_up.question

    @property
    def before(self) -> Before | None:
        """The conversation so far, as a prompt has it; None where there is none."""
        return self.turn.memory.before if self.turn else None
