"""analyze_document: topics, entities, facts and a summary of a document, each with its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from helix.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from helix.agent.tools.documents import Row, find_document, narrowed, passages, passages_holding
from helix.domain.names import SPANS, texts_of
from helix.language.paraphrases import meaning
from helix.language.terms import STOP_WORDS
from helix.language.words import words
from helix.storage.document_parts import section_leads

_MOST_CHARACTERS = 400_000
_MOST_TOPICS = 10
_MOST_ENTITIES = 12
_MOST_LEADS = 6
_ENTITY = re.compile(
    r"(?<=[a-z,;:] )[A-Z][\w&.'’-]*[\w](?: (?:of |and |& )?[A-Z][\w&.'’-]*[\w]){0,4}"
)
"""Words with a capital within a sentence, up to five of them in a row."""
_LEAST_TIMES = 2
_LEAST_LETTERS = 4


class AnalyzeArguments(Arguments):
    """The document to analyze."""

    document_id: int


@dataclass(frozen=True)
class _Finding:
    """A name in the text: how often it stands there, and the offsets of its first place."""

    name: str
    start: int
    end: int
    times: int = 1

    @property
    def line(self) -> str:
        times = f", {self.times} times" if self.times > 1 else ""
        return f"- {self.name} (characters {self.start} to {self.end}{times})"


async def analyze(arguments: AnalyzeArguments, context: ToolContext) -> ToolOutput:
    """Topics, facts and entities of the document by rule, and the passages for its summary."""
    row = await find_document(context, arguments.document_id)
    text = row["text"][:_MOST_CHARACTERS]
    facts, entities = list(_facts(row)), list(_entities(text))
    topics = list(_topics(row, text))
    scope = narrowed(context, arguments.document_id)
    leads = await passages(context, section_leads(scope, arguments.document_id, _MOST_LEADS))
    ranges = [(arguments.document_id, one.start, one.end) for one in (*facts, *entities[:3])]
    evidence = await passages_holding(context, ranges)
    lists = (("Facts", facts), ("Topics", topics), ("Entities", entities))
    lines = [row["title"]]
    for name, some in lists:
        lines += [f"{name}:", *(one.line for one in some)] if some else []
    hits = {hit.chunk_id: hit for hit in (*leads, *evidence)}
    return ToolOutput(
        ("\n".join(lines), "Summary, from the beginnings of its parts:", *hits.values())
    )


def _facts(row: Row) -> Iterator[_Finding]:
    """The document's facts (company, period and so on) that stand in its text."""
    spans = row["facts"].get(SPANS) or {}
    for name, fact in texts_of(row["facts"]).items():
        span = spans.get(name)
        if isinstance(span, list) and len(span) == 2:
            yield _Finding(f"{name}: {fact}", *span)
        elif (at := row["text"].find(fact)) >= 0:
            yield _Finding(f"{name}: {fact}", at, at + len(fact))


def _topics(row: Row, text: str) -> Iterator[_Finding]:
    """The headings of the first level; for a text without headings its most frequent words."""
    heads: dict[str, _Finding] = {}
    for section in row["outline"]:
        path = section.get("heading_path") or []
        if path:
            heads.setdefault(path[0], _Finding(path[0], section["start"], section["end"]))
    if len(heads) > 1:
        yield from list(heads.values())[:_MOST_TOPICS]
        return
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for word in words(text):
        if word.isalpha() and len(word) >= _LEAST_LETTERS and word not in STOP_WORDS:
            counts[meaning(word)] += 1
            forms.setdefault(meaning(word), word)
    for stem, times in counts.most_common(_MOST_TOPICS):
        match = re.search(rf"\b{re.escape(forms[stem])}\b", text, re.IGNORECASE)
        if match and times >= _LEAST_TIMES:
            yield _Finding(forms[stem], *match.span(), times)


def _entities(text: str) -> Iterator[_Finding]:
    """Names within sentences, the most frequent first."""
    places_by_name: dict[str, list[int]] = {}
    for match in _ENTITY.finditer(text):
        places_by_name.setdefault(match[0], []).append(match.start())
    often = sorted(places_by_name.items(), key=lambda each: (-len(each[1]), each[1][0]))
    for name, places in often[:_MOST_ENTITIES]:
        if len(places) >= _LEAST_TIMES:
            yield _Finding(name, places[0], places[0] + len(name), len(places))


ANALYZE_DOCUMENT = Tool("analyze_document", AnalyzeArguments, analyze)
