"""An answer put into a client's form: JSON of the client's schema, each value with its spans.

A second call of the model that answered, which its service holds to the schema. What the values
rest on is not asked of the model: a value has the spans of the answer that hold it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.answering.answer import Answer
from helix.domain.prompt import user_turn
from helix.errors import UpstreamError
from helix.providers.base import LanguageModel, model_failures
from helix.settings.prompts import prompt

LONGEST = 100_000
"""Characters of a filled form at most."""
_MOST_VALUES = 500
_LONGEST_VALUE = 500  # characters that are looked for in the spans

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FilledForm:
    """A form as JSON, and its values with their spans; ``text`` is None of a refusal.

    Each of ``values`` has a ``path`` (a JSON pointer), the ``value`` and the ``spans`` of the
    answer's statements that hold it; none where no span does.
    """

    text: str | None
    values: tuple[Json, ...] = ()


async def filled_form(
    llm: LanguageModel, schema: Mapping[str, Any], answer: Answer, told: Json, seconds: float
) -> FilledForm:
    """``answer``, of which ``told`` is the JSON, in the form of ``schema``.

    Raises:
        UpstreamError: the model's service failed, took longer than ``seconds``, or its
            reply is no JSON.
    """
    if answer.abstained:
        return FilledForm(None)
    try:
        async with asyncio.timeout(seconds):
            with answer.prompts.active(), model_failures(llm):
                text = await _reply(llm, schema, answer)
        form = json.loads(text)
    except TimeoutError:
        raise UpstreamError(
            f"{llm.identity} took longer than {seconds:g} seconds to fill the form of the answer:"
            " try again, or raise HELIX_MODEL_TIMEOUT"
        ) from None
    except (ValueError, RecursionError):
        raise UpstreamError(
            f"{llm.identity} gave no JSON for the form of the answer: ask again, or for less"
        ) from None
    return FilledForm(text, tuple(_values(form, told)))


async def _reply(llm: LanguageModel, schema: Mapping[str, Any], answer: Answer) -> str:
    assert llm.schema_options is not None, "a model whose service knows schemas"
    asked = user_turn(answer.question.text, answer.retrieval.sources)
    data = f"Answer, as a JSON string: {json.dumps(answer.text)}\nForm: {json.dumps(schema)}"
    messages = [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt("form")),
        ChatMessage(role=MessageRole.USER, content=f"{asked}\n{data}"),
    ]
    text = await llm.beginning(messages, LONGEST + 1, **llm.schema_options(schema))
    if len(text) > LONGEST:
        raise UpstreamError(f"the form has over {LONGEST:,} characters: ask for less")
    return text


def _values(form: Any, told: Json) -> Iterator[Json]:
    spans = [span for statement in told["support"]["statements"] for span in statement["spans"]]
    for _, (path, value) in zip(range(_MOST_VALUES), _leaves(form, ""), strict=False):
        holding = {
            (span["document_id"], span["start"], span["end"], span["n"]): span
            for span in spans
            if _holds(span["quote"], value)
        }
        yield {"path": path, "value": value, "spans": list(holding.values())}


def _leaves(form: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The texts and numbers of a form; a truth value or null has no words to look for."""
    if isinstance(form, dict):
        for name, value in form.items():
            yield from _leaves(value, f"{path}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(form, list):
        for place, value in enumerate(form):
            yield from _leaves(value, f"{path}/{place}")
    elif isinstance(form, (str, int, float)) and not isinstance(form, bool) and form != "":
        yield path, form


def _holds(quote: str, value: str | float) -> bool:
    """True if a span has the value's very characters, as words of its own."""
    said = [value] if isinstance(value, str) else [f"{value}", f"{value:,}"]
    return any(
        re.search(rf"(?<!\w){re.escape(text[:_LONGEST_VALUE])}(?!\w)", quote, re.IGNORECASE)
        for text in said
    )
