"""The prompt as the offline answerer reads it: the numbered sources and the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.domain.contract import QUESTION_PREFIX, SOURCES_BEGIN, SOURCES_END
from helix.domain.findings import Findings
from helix.domain.prompt import DEFUSED, FINDINGS, PLACES, SAID, defuse
from helix.domain.source_place import SourcePlace
from helix.language.paraphrases import meanings

_HEADER = re.compile(r"^\[(\d{1,9})\] \(id=[^)\n]*\) ", re.MULTILINE)
_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_DEFUSED_LINE = re.compile(rf"(?:^|(?<=[{_ENDS}])){re.escape(DEFUSED)}([^{_ENDS}]*)")


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


@dataclass(frozen=True)
class ParsedPrompt:
    """The question of a prompt, and its sources, best first."""

    question: str
    sources: tuple[PromptSource, ...]
    findings: Findings = field(default_factory=Findings)
    before: str = ""
    """The question and answer before a question that follows from them."""


def read_messages(messages: Sequence[ChatMessage]) -> ParsedPrompt:
    """The last user message as a question over its sources; without a block, no sources.

    Where the sources stand comes beside the prompt, for a model that reads it (LanguageModel).
    """
    turns = [message for message in messages if message.role == MessageRole.USER]
    if not turns:
        return read_prompt("")
    prompt = read_prompt(turns[-1].content or "")
    beside = turns[-1].additional_kwargs
    prompt = replace(prompt, findings=beside.get(FINDINGS, prompt.findings))
    prompt = replace(prompt, before=beside.get(SAID, ""))
    places: Sequence[SourcePlace] = beside.get(PLACES, ())
    if len(places) != len(prompt.sources):
        return prompt
    placed = (replace(s, place=p) for s, p in zip(prompt.sources, places, strict=True))
    return replace(prompt, sources=tuple(placed))


def read_prompt(prompt: str) -> ParsedPrompt:
    """Parse a user turn as helix.domain.prompt.user_turn writes it.

    The first line that is the end delimiter closes the block and a line that begins as a source
    header does is one, for the prompt marks every look-alike inside a chunk. What follows the
    block is the question and nothing else, whatever it looks like.
    """
    before, begun, rest = f"\n{prompt}".partition(f"\n{SOURCES_BEGIN}\n")
    if not begun:
        return ParsedPrompt(before.strip().removeprefix(QUESTION_PREFIX).strip(), ())
    if rest.startswith(f"{SOURCES_END}\n"):
        block, question = "", rest.removeprefix(f"{SOURCES_END}\n")
    else:
        block, _, question = rest.partition(f"\n{SOURCES_END}\n")
    asked = _without_marks(question.removeprefix(QUESTION_PREFIX)).strip()
    return ParsedPrompt(asked, tuple(_sources(block)))


def _sources(block: str) -> list[PromptSource]:
    headers = list(_HEADER.finditer(block))
    ends = [*(header.start() - 1 for header in headers[1:]), len(block)]
    return [
        PromptSource(int(header[1]), _without_marks(block[header.end() : end]))
        for header, end in zip(headers, ends, strict=False)  # no header: an empty block
    ]


def _without_marks(text: str) -> str:
    """The text without the marks that helix.domain.prompt put before look-alike lines."""
    if DEFUSED not in text:
        return text
    return _DEFUSED_LINE.sub(
        lambda line: line[1] if defuse(line[1]) == line[0] else line[0],
        text,
    )
