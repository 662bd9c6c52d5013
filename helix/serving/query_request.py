"""The body of POST /v1/query: its JSON, validated, as a question and the scope it is asked in."""

from __future__ import annotations

import json
import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Self, TypeVar
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from helix.answering.question import Mode
from helix.domain.conditions import MOST_CONDITIONS, conditions_of
from helix.domain.scope import Scope, checked_tags, scope_of_stored, tenant_name
from helix.errors import BadRequest

MAX_BYTES = 2**20
"""The longest request there is; a sensible one has a tenth of it."""
_LARGEST_ID = 2**63 - 1

# RFC 3339, section 5.6, without leap seconds; of a second's decimals Python keeps six
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_A_TIME = "a time with its offset, such as 2026-01-31T09:00:00Z"
_KINDS = {
    "tenant_id": "1 to 100 letters, digits or _ . @ -, a letter or digit first",
    "question": "a text with something to read in it",
    "top_k": "a whole number from 1 to 50",
    "topK": "a whole number, which is brought into 1 to 8",
    "as_of": _A_TIME,
    "space": "the name or the id of a space, of at most 100 characters",
    "document_ids": "a list of 1 to 1000 ids of documents, which are whole numbers",
    "conversation_id": "a text of at most 200 characters",
    "debug": "true or false",
    "stream": "true or false",
    "verdict": "true or false",
    "wait": "true or false",
    "mode": "answer, agent or write",
    "time_zone": "the IANA name of a time zone, such as Europe/Berlin",
    "model": "the name of a model that GET /v1/about lists",
    "title": "a text of at most 200 characters",
    "id": "1 to 200 letters, digits or _ . : @ -, a letter or digit first",
    "active": "the id of a message, which is a whole number",
    "parent_id": "the id of a message, which is a whole number",
    "images": "a list of at most 5 ids of images that were put to the conversation",
    "kind": "quiz, cards, workshop or map",
    "difficulty": "easy, normal or advanced",
    "count": "a whole number",
    "item_id": "the id of an item, which is a whole number",
    "answer": "an option's number, or true or false",
    "positions": "an object of [x, y] by the node's id, or null",
    "folded": "an object of true or false by the node's id",
    "rating": "again, hard, good or easy",
    "filters": "an object with source_prefix, tags, since, until, company, kind or metadata",
    "filters.source_prefix": "a text of 1 to 2000 characters, none of them a control character",
    "filters.tags": "a list of 1 to 50 texts of 1 to 100 characters, none a control character",
    "filters.company": "a text of 1 to 200 characters, none of them a control character",
    "filters.kind": "a text of 1 to 100 characters, none of them a control character",
    "filters.metadata": "a list of 1 to 20 conditions, each with key, op and value",
    "filters.since": _A_TIME,
    "filters.until": _A_TIME,
}
"""The description of each key's value: the end of the error for any other value."""


def _moment(text: object) -> datetime:
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        raise ValueError("no time of RFC 3339")
    moment = datetime.fromisoformat(text.upper())
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("before the year 1 or after 9999") from None
    return moment


def read_time(name: str, text: str) -> datetime:
    """The moment that ``text`` of an address says; raises BadRequest."""
    try:
        return _moment(text)
    except ValueError:
        raise BadRequest(f"{name} must be {_A_TIME}") from None


def _readable(text: str) -> str:
    if all(unicodedata.category(c)[0] in "ZC" for c in text):
        raise ValueError("nothing to read")
    return text


def _without_controls(text: str) -> str:
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in text):
        raise ValueError("a control character")
    return text


def _known_zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (KeyError, OSError, ValueError):  # unknown; a folder's; a path
        raise ValueError("no time zone") from None


def _checked_by(check: Callable[[Any], object]) -> AfterValidator:
    """``check`` as a validator of pydantic, which does not know BadRequest."""

    def validate(value: Any) -> Any:
        try:
            return check(value)
        except BadRequest as error:
            raise ValueError(str(error)) from None

    return AfterValidator(validate)


Time = Annotated[datetime, BeforeValidator(_moment)]
DocumentId = Annotated[int, Field(ge=0, le=_LARGEST_ID)]
SpaceName = Annotated[
    str,
    Field(max_length=100),
    BeforeValidator(
        lambda given: str(given) if type(given) is int else given, json_schema_input_type=str | int
    ),
]
"""A space as a request names it: its name, or its id as a text or a number."""
Prefix = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_without_controls)]
Company = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_without_controls)]
Kind = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_without_controls)]
TimeZone = Annotated[str, Field(max_length=100), AfterValidator(_known_zone)]
ModelName = Annotated[str, Field(max_length=300)]
MODES = "agent: tools gather the sources; write: code and drafts; HELIX_MODE"
CONDITIONS = (
    'Whose metadata fits all of these: {"key": "year", "op": ">=", "value": 2024}; op is one of'
    " = != < <= > >= in exists, = where it is left out"
)
ANSWERS_BY = "The model that answers, by a name of GET /v1/about"
Tags = Annotated[tuple[str, ...], Field(min_length=1, max_length=50), _checked_by(checked_tags)]


def _conditions(given: list[Any]) -> list[Any]:
    return [condition.to_json() for condition in conditions_of(given)]


Conditions = Annotated[
    list[dict[str, Any]],
    Field(min_length=1, max_length=MOST_CONDITIONS),
    _checked_by(_conditions),
]


class Filters(BaseModel):
    """Filters of the documents that may be answered from: those that fit all of these."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    source_prefix: Prefix | None = Field(None, description="What source_uri begins with")
    tags: Tags | None = Field(None, description="Documents that have all of these")
    since: Time | None = Field(None, description="Stored then or later")
    until: Time | None = Field(None, description="Stored then or before")
    company: Company | None = Field(None, description="Whose documents, by their facts")
    kind: Kind | None = Field(None, description="Of which kind, by their facts: 10-Q")
    metadata: Conditions | None = Field(None, description=CONDITIONS)


_MOST_CLAMPED = 8
AS_OF = "Of the library as it stood then, as far as versions are kept: 2026-01-31T09:00:00Z"


class QueryRequest(BaseModel):
    """The JSON of a request; what is null counts as left out."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    question: Annotated[str, AfterValidator(_readable)]
    tenant_id: Annotated[str, _checked_by(tenant_name)] | None = None
    top_k: int | None = Field(None, ge=1, le=50, description="Chunks to answer from")
    document_ids: list[DocumentId] | None = Field(None, min_length=1, max_length=1000)
    filters: Filters | None = None
    space: SpaceName | None = Field(None, description="Its documents alone: id or name")
    as_of: Time | None = Field(None, description=AS_OF)
    conversation_id: str | None = Field(None, max_length=200, description="Begun or gone on with")
    debug: bool | None = Field(None, description="Tell how the answer came about")
    stream: bool | None = Field(None, description="Answer as server-sent events")
    verdict: bool | None = Field(None, description="Have a judge look at the whole answer")
    mode: Mode | None = Field(None, description=MODES)
    time_zone: TimeZone | None = Field(None, description="The asker's, for an agent; UTC")
    model: ModelName | None = Field(None, description=ANSWERS_BY)

    topK: int | None = Field(None, description="`top_k`, brought into 1 to 8")  # noqa: N815

    @model_validator(mode="after")
    def _clamp(self) -> Self:
        """Have ``topK`` count where ``top_k`` is not given: who writes it expects no refusal."""
        if self.topK is None or self.top_k is not None:
            return self
        object.__setattr__(self, "top_k", min(max(self.topK, 1), _MOST_CLAMPED))
        return self

    def scope(self, tenant: str) -> Scope:
        """The documents of ``tenant`` that it may be answered from."""
        return scope_of_stored(self.stored_scope(), tenant)

    def stored_scope(self) -> dict[str, Any]:
        """The stored form of its scope, JSON."""
        moment = {"as_of": self.as_of.isoformat()} if self.as_of else {}
        return stored_scope(self.document_ids, self.filters) | moment

    @property
    def narrows(self) -> bool:
        """True if it says itself what it may be answered from."""
        return any(one is not None for one in (self.document_ids, self.filters, self.as_of))


def stored_scope(document_ids: list[int] | None, filters: Filters | None) -> dict[str, Any]:
    """The stored form of a scope, JSON: ``document_ids`` and ``filters``, where there are any."""
    kept = filters.model_dump(mode="json", exclude_none=True) if filters else {}
    ids = {} if document_ids is None else {"document_ids": document_ids}
    return ids | ({"filters": kept} if kept else {})


_Body = TypeVar("_Body", bound=BaseModel)


def query_request(body: bytes, max_question_chars: int) -> QueryRequest:
    """``checked_request`` of POST /v1/query."""
    return checked_request(body, max_question_chars, QueryRequest)


def checked_request(body: bytes, max_question_chars: int, kind: type[_Body]) -> _Body:
    """The request of ``kind`` in ``body``.

    Raises:
        BadRequest: one line that names the key which is unknown, missing or not of its kind.
    """
    try:
        request = kind.model_validate_json(body.removeprefix(BOM_UTF8))
    except ValidationError as error:
        raise BadRequest(_problem(error, kind)) from None
    length = len(getattr(request, "question", ""))
    if length > max_question_chars:
        raise BadRequest(f"question has {length} characters; the limit is {max_question_chars}")
    return request


def _problem(error: ValidationError, kind: type[BaseModel]) -> str:
    """The first problem as one line; the rejected value is left out, for it may be a secret."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = [str(part) for part in first["loc"]]
    if not place:
        example = '{"question": "…"}' if "question" in kind.model_fields else "one"
        return f"the body is no JSON object: send {example} in UTF-8"
    if first["type"] == "extra_forbidden":
        model = Filters if place[0] == "filters" else kind
        known = ", ".join(model.model_fields)
        return f"{json.dumps('.'.join(place)[:80])} is no key of this request: there are {known}"
    if place[:2] == ["filters", "metadata"] and first["type"] == "value_error":
        said = first["msg"].removeprefix("Value error, ")
        return f"filters.{said}" if said.startswith("metadata") else f"filters.metadata: {said}"
    key = next(name for name in (".".join(place[:2]), place[0]) if name in _KINDS)
    missing = first["type"] == "missing"
    return f"{key} is missing: send {_KINDS[key]}" if missing else f"{key} is not {_KINDS[key]}"


def schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a request of ``kind``, without references."""
    found = kind.model_json_schema()
    if parts := found.pop("$defs", None):
        found["properties"]["filters"] = parts["Filters"] | {"default": None}
    return found


def json_body(kind: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """The description of a JSON body of ``kind``, for ``openapi_extra``."""
    content = {"application/json": {"schema": schema(kind)}}
    return {"requestBody": {"required": required, "content": content}}
