"""Facts that a document states of itself, as text by name, and people's edits of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helix.language.periods import reported
from helix.language.words import copy_words

COMPANY, KIND, PERIOD, AUTHOR, DATE = "company", "kind", "period", "author", "date"
EDITABLE = (COMPANY, KIND, PERIOD, AUTHOR, DATE, "parties", "identifier", "ticker", "fiscal")
"""The facts that there are; ``pipelines/facts`` reads them."""
SPANS = "spans"
"""The key of ``documents.facts`` that says where each of the others was read from."""
TITLE, FILE_NAME, FACTS = "title", "file_name", "facts"
"""The keys of ``documents.edits``."""
PERIOD_END = "period_end"
"""The fact that the newest of several documents is told by: a day as 2023-07-01."""
# A paper's dozen authors would drown each of its chunks: who names one is led by document_names.
_LINE = ("company", "parties", "kind", "period", "fiscal", "ticker")
_LONGEST = 160  # characters of a fact in the line


def texts_of(facts: Mapping[str, Any]) -> dict[str, str]:
    """The facts without their spans, and without what is no text."""
    return {name: fact for name, fact in facts.items() if isinstance(fact, str)}


def with_edits(facts: Mapping[str, Any], edits: Mapping[str, Any]) -> dict[str, Any]:
    """``facts`` with what people changed in their place; None takes one away.

    An edited fact has no span: it was not read from the text.
    """
    changed: Mapping[str, Any] = edits.get(FACTS) or {}
    spans = {name: span for name, span in facts.get(SPANS, {}).items() if name not in changed}
    merged = {**facts, **changed, SPANS: spans or None}
    if PERIOD in changed:
        merged[PERIOD_END] = period_end(merged[PERIOD] or "")
    return {name: value for name, value in merged.items() if value is not None}


def period_end(period: str) -> str | None:
    """The last day of a ``period`` as a report calls it, as 2023-07-01."""
    day = reported(period)[1]
    return day.isoformat() if day else None


def facts_line(title: str, facts: Mapping[str, Any]) -> str:
    """The facts that search should see and ``title`` does not say already, on one line."""
    said = set(copy_words(title))
    parts = []
    for name in _LINE:
        fact = facts.get(name)
        if isinstance(fact, str) and not said.issuperset(words := copy_words(fact)):
            parts.append(fact[:_LONGEST])
            said.update(words)
    return " | ".join(parts)
