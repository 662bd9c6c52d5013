"""A plain model of what people share: conversations, answers, whom for, comments, public links.

It knows of an answer which documents it was made of, and of a reader what they may read; from that
it says what of the answer they see.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.support.reading_model import Model, Person


@dataclass(frozen=True)
class Answered:
    """A message of a conversation as its author saw it when it was answered.

    ``quoted``: the documents of its statements' spans, where each statement has the very words of
    passages and the answer nothing else; None elsewhere. A ``refused`` one says nothing of any.
    """

    id: int
    answer_id: str
    text: str
    made_of: frozenset[int]
    cited: tuple[int, ...]
    quoted: frozenset[int] | None
    refused: bool


@dataclass
class Talk:
    """A person's conversation, whose messages follow each other."""

    id: str
    author: str
    messages: list[Answered] = field(default_factory=list)


@dataclass
class Shared:
    """A share of a conversation, or of one message of it, with its readers by name.

    ``comments``: by id, by whom on which message; ``links``: by id the secrets.
    """

    id: str
    talk: Talk
    message: Answered | None
    people: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    everyone: bool = False
    words: bool = False
    comments: dict[int, tuple[str, int]] = field(default_factory=dict)
    links: dict[int, str] = field(default_factory=dict)

    def is_for(self, person: Person) -> bool:
        """True if the person may open it: its author too."""
        return (
            person.email == self.talk.author
            or self.everyone
            or person.email in self.people
            or bool(person.groups & self.groups)
        )

    @property
    def shown(self) -> list[Answered]:
        """The messages that it is of."""
        return self.talk.messages if self.message is None else [self.message]


@dataclass(frozen=True)
class Seen:
    """An answer as a reader sees it, of whose documents ``closed`` may not be read by them."""

    id: int
    text: str | None
    citations: tuple[int, ...]
    closed_sources: int
    closed: frozenset[int]

    def is_as(self, told: dict[str, Any]) -> bool:
        """True if the server tells the same."""
        return (
            (told["id"], told["answer"], told["hidden"]) == (self.id, self.text, self.text is None)
            and tuple(one["document_id"] for one in told["citations"]) == self.citations
            and told["closed_sources"] == self.closed_sources
        )


@dataclass
class Sharing:
    """All that is shared, beside the model of who may read which document."""

    model: Model
    talks: list[Talk] = field(default_factory=list)
    shares: dict[str, Shared] = field(default_factory=dict)

    def closed_of(self, documents: frozenset[int], email: str | None) -> frozenset[int]:
        """The part that a person in their browser may not read; with nobody, all of them."""
        if email is None:
            return documents
        reader = self.model.session_of(email)
        return frozenset(one for one in documents if not self.model.may_read(reader, one))

    def seen(self, share: Shared, email: str | None) -> list[Seen]:
        """The answers of a share for a person, or for whoever has a public link."""
        before: frozenset[int] = frozenset()
        found = []
        for answered in share.talk.messages:
            before |= answered.made_of
            if answered in share.shown:
                found.append(self._seen(share, answered, self.closed_of(before, email), email))
        return found

    def _seen(
        self, share: Shared, answered: Answered, closed: frozenset[int], email: str | None
    ) -> Seen:
        gives = share.words or email is None
        is_quoted = answered.quoted is not None and not answered.quoted & closed
        passes = not self.closed_of(answered.made_of, share.talk.author) and (gives or is_quoted)
        is_shown = answered.refused or not closed or passes
        citations = tuple(one for one in answered.cited if one not in closed)
        return Seen(
            answered.id, answered.text if is_shown else None, citations,
            len(answered.cited) - len(citations), closed,
        )  # fmt: skip
