"""Answers with types; each field as POST /v1/query has it (docs/query.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from helix.client.errors import InvalidResponse

T = TypeVar("T")
Json = Mapping[str, Any]


def dataclass_of(cls: type[T], payload: Json, **values: Any) -> T:
    """An object of the dataclass ``cls`` from the JSON ``payload`` and the fields of ``values``.

    Keys that the dataclass has no field for, as of a newer server, are passed over; the ``json``
    of the whole has them.

    Raises:
        InvalidResponse: a field without a default is missing.
    """
    names = {each.name for each in fields(cls)}  # type: ignore[arg-type]  # T is a dataclass
    try:
        return cls(**{**{name: payload[name] for name in names & payload.keys()}, **values})
    except TypeError:
        raise InvalidResponse(f"the server sent no whole {cls.__name__.lower()}") from None


@dataclass(frozen=True)
class Citation:
    """A source that the answer cites; ``quote`` is ``text[start:end]`` of its document.

    Offsets count Unicode code points, as Python does. All three are None where no statement that
    cites the source has a span in it. ``kind`` is "passage", or "calculation" or "clock" of a
    tool's result, which has no ids. ``by``: "model" where the answer has a marker of the source,
    "helix" where it was found to bear out a statement without a marker. ``source_url`` is the
    address of a page of the web that the document is, ``version_id`` the SHA-256 of its source.
    """

    n: int
    chunk_id: int | None
    document_id: int | None
    title: str | None
    snippet: str | None
    quote: str | None = None
    start: int | None = None
    end: int | None = None
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    label: str = ""
    kind: str = "passage"
    by: str = "model"
    source_url: str | None = None
    version_id: str | None = None


@dataclass(frozen=True)
class Span:
    """Characters of a document that a statement rests on; ids and offsets of a tool are None."""

    n: int
    chunk_id: int | None
    document_id: int | None
    start: int | None
    end: int | None
    quote: str | None
    page: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Statement:
    """A statement of the answer, ``answer[start:end]``, with the spans that support it.

    ``by`` is "helix" where it has no marker, and ``numbers`` is the source that was found for it.
    ``probability`` is how likely what is cited bears it out; None where that is exact or unknown.
    """

    start: int
    end: int
    supported: bool
    problem: str | None
    numbers: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()
    relevant: bool | None = None
    reason: str | None = None
    by: str = "model"
    status: str | None = None
    probability: float | None = None


@dataclass(frozen=True)
class Support:
    """The supported share of the answer's statements, 0 to 1; None where it has no statement.

    ``probability`` is how likely the answer is what was asked, ``likely`` whether that is enough to
    say so; both are None where that is not known.
    """

    ratio: float | None
    statements: tuple[Statement, ...] = ()
    probability: float | None = None
    likely: bool | None = None


@dataclass(frozen=True)
class Answer:
    """An answer, or a refusal (``abstained``), with its citations; ``json`` is the whole response.

    ``answer_id`` finds its receipt: ``GET /v1/answers/{id}``.
    """

    answer: str
    citations: tuple[Citation, ...]
    abstained: bool
    answer_id: str
    support: Support
    reason: str | None = None
    reason_text: str | None = None
    clarifying_question: str | None = None
    trace_id: str = ""
    conversation_id: str | None = None
    verdict: Json | None = None
    json: Json = field(default_factory=dict, repr=False, compare=False)


def answer_of(payload: Json) -> Answer:
    """The typed form of what POST /v1/query gives.

    Raises:
        InvalidResponse: the JSON is no answer of Helix.
    """
    try:
        citations = tuple(
            dataclass_of(Citation, each, heading_path=tuple(each.get("heading_path") or ()))
            for each in payload["citations"]
        )
        support = payload["support"]
        statements = tuple(
            dataclass_of(
                Statement,
                each,
                numbers=tuple(each.get("numbers", ())),
                spans=tuple(dataclass_of(Span, span) for span in each["spans"]),
            )
            for each in support["statements"]
        )
        answers = support.get("answers") or {}
        proven = Support(
            support["ratio"], statements, answers.get("probability"), answers.get("likely")
        )
    except (LookupError, TypeError, AttributeError):
        raise InvalidResponse("the server sent no whole answer") from None
    return dataclass_of(Answer, payload, citations=citations, support=proven, json=payload)
