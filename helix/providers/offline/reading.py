"""A question and its sources as the offline answerer gets them: beside the prompt, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.domain.findings import Beside
from helix.domain.prompt import BESIDE
from helix.domain.source_place import SourcePlace
from helix.language.paraphrases import meanings


@dataclass(frozen=True)
class PromptSource:
    """One numbered source, its text as it stands in the document, and where that stands."""

    number: int
    text: str
    place: SourcePlace = field(default_factory=SourcePlace)

    @cached_property
    def meanings(self) -> frozenset[str]:
        """Meanings of the words of its text."""
        return frozenset(meanings(self.text))


def read_messages(messages: Sequence[ChatMessage]) -> Beside:
    """The values beside the last user message; no question and no source where there are none."""
    turns = [message for message in messages if message.role == MessageRole.USER]
    beside: Beside | None = turns[-1].additional_kwargs.get(BESIDE) if turns else None
    return beside or Beside("")


def sources_of(beside: Beside) -> list[PromptSource]:
    """The sources with their numbers."""
    return [PromptSource(n, *source) for n, source in enumerate(beside.sources, 1)]
