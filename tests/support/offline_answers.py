"""The offline answerer asked over texts, with what lies beside a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage

from helix.domain.context import Source
from helix.domain.prompt import Beside, chat_messages
from helix.domain.relevance import SourcePlace
from helix.evidence.blocks import Layout
from helix.evidence.words import Floats
from helix.language.sentences import Passage, units_of
from helix.providers.offline.answerer import OfflineLLM
from helix.providers.offline.exact import exact
from helix.providers.offline.named_units import NamedUnits
from helix.providers.offline.reading import OfferedSource


def sources_over(*texts: str) -> tuple[OfferedSource, ...]:
    """The texts as sources, numbered from 1."""
    return tuple(OfferedSource(number, text) for number, text in enumerate(texts, 1))


def messages_over(
    question: str, *texts: str, follows: str = "", said: str = ""
) -> list[ChatMessage]:
    """The messages of a question over texts."""
    sources = [(text, SourcePlace()) for text in texts]
    beside = Beside(question, sources, said=said, follows=follows)
    return chat_messages(question, [], beside=beside)


def ask_over(question: str, *texts: str, follows: str = "", said: str = "") -> str:
    """The answer to a question over texts."""
    messages = messages_over(question, *texts, follows=follows, said=said)
    return OfflineLLM().chat(messages).message.content or ""


def ask_of(question: str, sources: Sequence[Source]) -> str:
    """The answer to a question over sources with their places."""
    beside = Beside(question, [(source.content, source.place) for source in sources])
    messages = chat_messages(question, sources, beside=beside)
    return OfflineLLM().chat(messages).message.content or ""


def told_over(question: str, text: str, likely: Floats) -> list[float]:
    """The probabilities of the units of a text, of what the question names with its rivals'."""
    passage = Passage(text)
    units = units_of([passage])
    layouts = [Layout(passage, units)]
    named = NamedUnits(question, exact(question), sources_over(text), units, layouts)
    return [round(float(one), 3) for one in named.told(likely)]
