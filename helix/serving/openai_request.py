"""The bodies of the OpenAI-compatible routes; keys that are not named here are ignored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from helix.answering.question import Mode
from helix.domain.scope import Scope, scope_of_stored
from helix.errors import HelixError
from helix.protocols.messages import Message, latest, with_few_parts
from helix.providers.choices import names_of_models
from helix.serving.body_problems import first_problem, read_body
from helix.serving.openai_forms import Format, InvalidParameter, TextOptions, check_choice
from helix.serving.query_request import (
    DocumentId,
    Filters,
    TimeZone,
    stored_scope,
)
from helix.settings import Settings

ANSWERS = "helix"
AGENT = "helix-agent"
EMBEDS = "helix-embed"
_MOST_TEXTS = 2048
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_UNREAD = frozenset({"image_url", "input_image", "input_audio", "file", "input_file"})


class UnknownModel(HelixError):
    """The request names a model that does not exist."""

    status = 404
    code = "model_not_found"


_OR_ONE = BeforeValidator(
    lambda given: [given] if isinstance(given, str) else given,
    json_schema_input_type=str | list[str],
)
"""Takes one text for a list of one; a union of both would tell an error of each."""


class _Lenient(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Body(_Lenient):
    model: str = Field(description="GET /v1/models lists them")
    tenant_id: str | None = Field(None, description="Of Helix: whose documents")


class _Part(_Lenient):
    type: str
    text: str | None = None


class _Said(_Lenient):
    type: str = "message"
    role: str = ""
    content: Annotated[str | list[_Part] | None, BeforeValidator(with_few_parts)] = None

    def message(self) -> Message:
        """The message as every protocol's are read; raises BadRequest for what is not text."""
        if isinstance(self.content, str) or self.content is None:
            return Message(self.role, self.content or "")
        if self.role == "user" and (unread := {p.type for p in self.content} & _UNREAD):
            raise InvalidParameter(
                f"a message holds {', '.join(sorted(unread))}: only text is read here", "messages"
            )
        texts = [part.text for part in self.content if part.type in _TEXT_PARTS and part.text]
        return Message(self.role, "\n".join(texts))


_Messages = Annotated[list[_Said], BeforeValidator(latest), Field(min_length=1)]


class AskingRequest(_Body):
    """The keys of a question in either format; Helix's own come last."""

    stream: bool | None = None
    document_ids: list[DocumentId] | None = Field(None, min_length=1, max_length=1000)
    filters: Filters | None = None
    top_k: int | None = Field(None, ge=1, le=50)
    time_zone: TimeZone | None = None
    citation_links: bool = Field(False, description="Write `[1](address)` for `[1]`")
    tool_choice: Any = Field(None, description="Not one that forces a call")

    @property
    def form(self) -> tuple[Format | None, str]:
        """The form that the answer is asked for in, and the name of its key."""
        raise NotImplementedError

    def schema_asked(self) -> dict[str, Any] | None:
        """The JSON schema that the answer is asked for in; None: as text.

        Raises:
            InvalidParameter: a call is forced, or the form is none that can be kept.
        """
        check_choice(self.tool_choice, "tool_choice")
        form, param = self.form
        return form.schema_in(param) if form else None

    def messages_said(self) -> list[Message]:
        """The messages, oldest first."""
        raise NotImplementedError

    @property
    def question_key(self) -> str:
        """The key that the question is in."""
        raise NotImplementedError

    @property
    def stops(self) -> tuple[str, ...]:
        """The sequences that end the text."""
        return ()

    @property
    def tells_usage(self) -> bool:
        """True if a stream ends with the number of tokens."""
        return False

    def mode(self, settings: Settings) -> Mode:
        """``agent`` for the models of this name, else that of HELIX_MODE."""
        return "agent" if known_model(self.model, settings).is_agent else settings.mode

    def answering_model(self, settings: Settings) -> str | None:
        """The name of HELIX_MODELS behind the stroke of the model's; raises UnknownModel."""
        return known_model(self.model, settings).llm

    def scope(self, tenant: str, settings: Settings) -> Scope:
        """The documents that the question is answered from; raises UnknownModel."""
        tag = known_model(self.model, settings).tag
        stored = stored_scope(self.document_ids, self.filters)
        if tag is not None:
            filters = stored.setdefault("filters", {})
            filters["tags"] = [*dict.fromkeys([tag, *(filters.get("tags") or ())])]
        return scope_of_stored(stored, tenant)


class _StreamOptions(_Lenient):
    include_usage: bool | None = None


class ChatRequest(AskingRequest):
    """The body of POST /v1/chat/completions."""

    messages: _Messages
    stream_options: _StreamOptions | None = None
    stop: Annotated[list[str], Field(max_length=4), _OR_ONE] | None = None
    n: Literal[1] | None = None
    response_format: Format | None = None
    function_call: Any = Field(None, description="Not one that forces a call")

    @property
    def question_key(self) -> str:
        return "messages"

    @property
    def form(self) -> tuple[Format | None, str]:
        return self.response_format, "response_format"

    def schema_asked(self) -> dict[str, Any] | None:
        check_choice(self.function_call, "function_call")
        return super().schema_asked()

    def messages_said(self) -> list[Message]:
        return [said.message() for said in self.messages]

    @property
    def stops(self) -> tuple[str, ...]:
        return tuple(self.stop or ())

    @property
    def tells_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


class ResponsesRequest(AskingRequest):
    """The body of POST /v1/responses; no response is stored for a later one to continue."""

    input: str | _Messages
    previous_response_id: str | None = None
    conversation: Any = None
    text: TextOptions | None = None

    @property
    def question_key(self) -> str:
        return "input"

    @property
    def form(self) -> tuple[Format | None, str]:
        return (self.text.format if self.text else None), "text.format"

    def messages_said(self) -> list[Message]:
        for name in ("previous_response_id", "conversation"):
            if getattr(self, name) is not None:
                raise InvalidParameter(
                    "no response is kept: send the messages before it in input", name
                )
        if isinstance(self.input, str):
            return [Message("user", self.input)]
        return [said.message() for said in self.input if said.type == "message"]


def _no_tokens(given: Any) -> Any:
    """``given``, unless it has tokens, which LangChain sends of itself."""
    if isinstance(given, list) and any(isinstance(one, int | list) for one in given):
        told = "texts are embedded, not tokens (LangChain: check_embedding_ctx_length=False)"
        raise PydanticCustomError("tokens", told)
    return given


class EmbeddingsRequest(_Body):
    """The body of POST /v1/embeddings."""

    input: Annotated[
        list[str], Field(min_length=1, max_length=_MOST_TEXTS), BeforeValidator(_no_tokens), _OR_ONE
    ]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = None
    input_type: Literal["document", "query"] = Field("document", description="Of Helix")


Kind = TypeVar("Kind", bound=_Body)


async def openai_request(body: bytes, kind: type[Kind]) -> Kind:
    """The request of ``kind`` in ``body``.

    Raises:
        InvalidParameter: one line that names the first key which is missing or malformed.
    """
    try:
        return await read_body(body, kind)
    except ValidationError as error:
        place, problem = first_problem(error)
        raise InvalidParameter(f"{place or 'the body'}: {problem}", place or None) from None


@dataclass(frozen=True)
class AnsweringModel:
    """A model of these routes: the ``tag`` of its documents, None for all; whether it is an agent;
    and the model behind it by its name of HELIX_MODELS, None for the tenant's."""

    tag: str | None = None
    is_agent: bool = False
    llm: str | None = None


def models_of(settings: Settings) -> dict[str, AnsweringModel]:
    """The models that answer, by name; ``helix/NAME`` where there is more than one behind them."""
    found = {ANSWERS: AnsweringModel(), AGENT: AnsweringModel(is_agent=True)}
    found |= {f"{ANSWERS}:{tag}": AnsweringModel(tag) for tag in settings.tag_models}
    behind = names_of_models(settings) if settings.models else ()
    return found | {
        f"{name}/{llm}": replace(model, llm=llm) for llm in behind for name, model in found.items()
    }


def known_model(model: str, settings: Settings) -> AnsweringModel:
    """The model of this name.

    Raises:
        UnknownModel: there is none.
    """
    known = models_of(settings)
    if model not in known:
        raise UnknownModel(f"there is no model {model[:80]!r}: there are {', '.join(known)}")
    return known[model]


def model_json(name: str) -> dict[str, Any]:
    """A model's entry in GET /v1/models."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "helix"}
