"""Cases: a question, the passages that answer it, what an answer must say, or that it must refuse.

``evals/cases.json`` is a list of objects: ``id``, ``question``, ``tags``; then either ``refusal``
(true) or ``passages``, each a ``source`` (source_uri) and the exact ``text`` that answers;
``keywords`` that an answer must have, ``forbidden`` words that it must not; ``scope`` where it is
asked of some documents only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from helix.domain.scope import Scope
from helix.errors import HelixError

CASES = Path(__file__).with_name("cases.json")

NEAR = 2000
"""The characters that a passage may have moved by, because of text written in front of it."""


class CaseError(HelixError):
    """A case cannot be used; the message names it, never what it says."""


class Passage(BaseModel):
    """The place of an answer: ``text`` in the document ``source``, whole document where None.

    ``start`` is about where it is, in characters, for a text that is there more than once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    text: str | None = None
    start: int | None = None


class Within(BaseModel):
    """The documents that a question is asked of, as ``Scope`` has them but the tenant.

    ``document_ids`` are of the database that the case was made from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_ids: tuple[int, ...] | None = None
    source_prefix: str | None = None
    tags: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    company: tuple[str, ...] | None = None
    kind: str | None = None

    def of(self, tenant: str) -> Scope:
        """The scope within a tenant's documents."""
        return Scope(tenant, **dict(self))


class Case(BaseModel):
    """One question. Exactly one of ``passages`` and ``refusal`` is given.

    ``keywords`` are all wanted in the answer; of ``golds``, spans of published sets, one is enough.
    ``scope`` narrows what it is asked of. A case with ``review`` waits for a person and is not run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    question: str
    tags: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    refusal: bool = False
    keywords: tuple[str, ...] = ()
    golds: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    scope: Within = Within()
    review: bool = False
    note: str = ""

    @property
    def by_document(self) -> bool:
        """True where its sources are known by document only."""
        return any(passage.text is None for passage in self.passages)


class Span(BaseModel):
    """``documents.text[start:end]`` of a source; the whole of it where ``end`` is None."""

    model_config = ConfigDict(frozen=True)

    source: str
    start: int = 0
    end: int | None = None

    def overlaps(self, start: int, end: int) -> bool:
        """True where it shares a character with [start, end)."""
        return start < (end if self.end is None else self.end) and self.start < end


def load_cases(path: Path = CASES) -> list[Case]:
    """The cases of a file, in order.

    Raises:
        CaseError: the file is not one of cases, an id comes twice, or a case is neither answered by
            passages nor refused.
    """
    try:
        cases = TypeAdapter(list[Case]).validate_python(json.loads(path.read_text("utf-8")))
    except OSError:
        raise CaseError(f"{path.name} cannot be read: give a file of cases") from None
    except ValidationError as error:
        at = ".".join(map(str, error.errors()[0]["loc"]))
        raise CaseError(f"{path.name} is malformed at {at}: {error.errors()[0]['msg']}") from None
    except ValueError:
        raise CaseError(f"{path.name} is not JSON in UTF-8") from None
    check(cases)
    return cases


def check(cases: Sequence[Case]) -> None:
    """Raise CaseError for an id that comes twice and a case that is not one of the two kinds."""
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise CaseError(f"case {case.id}: the id is there twice")
        seen.add(case.id)
        if not case.question.strip():
            raise CaseError(f"case {case.id}: there is no question")
        if not case.review and bool(case.passages) == case.refusal:
            raise CaseError(f"case {case.id}: give its passages, or refusal, and not both")


def located(cases: Iterable[Case], texts: Mapping[str, str]) -> dict[str, tuple[Span, ...]]:
    """By the id of its case: where each passage stands in ``texts``, documents by source_uri.

    Raises:
        CaseError: a source is not among the documents, or the passage not once in its text.
    """
    return {
        case.id: tuple(_span(case, passage, texts) for passage in case.passages) for case in cases
    }


def _span(case: Case, passage: Passage, texts: Mapping[str, str]) -> Span:
    text = texts.get(passage.source)
    if text is None:
        raise CaseError(f"case {case.id}: there is no document {passage.source}")
    if passage.text is None:
        return Span(source=passage.source)
    if passage.start is not None:
        start = _nearest(text, passage.text, passage.start)
        if start < 0:
            raise CaseError(f"case {case.id}: its passage is not in {passage.source} where it was")
    else:
        start = text.find(passage.text)
        if start < 0:
            raise CaseError(f"case {case.id}: its passage is not in {passage.source}")
        if text.find(passage.text, start + 1) >= 0:
            raise CaseError(
                f"case {case.id}: its passage is in {passage.source} twice; give more of it"
            )
    return Span(source=passage.source, start=start, end=start + len(passage.text))


def _nearest(text: str, wanted: str, about: int) -> int:
    """The place of ``wanted`` next to ``about``, within NEAR characters; -1 if it is not there."""
    last = text.rfind(wanted, max(0, about - NEAR), about + len(wanted))
    following = text.find(wanted, about, about + NEAR + len(wanted))
    found = [place for place in (last, following) if place >= 0]
    return min(found, key=lambda place: abs(place - about), default=-1)


def chosen(cases: Iterable[Case], tags: Sequence[str]) -> list[Case]:
    """The cases with one of ``tags`` (all where none is given), without those that wait for review.

    Raises:
        CaseError: none is left.
    """
    wanted = set(tags)
    found = [c for c in cases if not c.review and (not wanted or wanted & set(c.tags))]
    if not found:
        raise CaseError(
            f"no case has the tag {' or '.join(tags)}" if tags else "there are no cases"
        )
    return found
