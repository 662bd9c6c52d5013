"""Four corpora as scopes: documents in passages, searched in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from helix.domain.context import Source
from helix.domain.records import Hit
from helix.language.sentences import sentence_spans
from helix.language.terms import terms
from helix.study.passages import source_of

CORPORA = ("squad2", "covidqa", "scifact", "tatqa")
_PASSAGE = 1800  # characters
_SHARE = 0.4  # of a text's terms that a passage has to have to be looked at: proofs ask for 0.65
_ABSTRACTS = 12  # that are one scope together
_SCOPES = 60  # of a corpus at most


@dataclass
class Scope:
    """A document, or a few that belong together: all that an item's wrong options are held to."""

    corpus: str
    title: str
    texts: Sequence[str]
    passages: list[Source] = field(default_factory=list)

    def __post_init__(self) -> None:
        number = 0
        for document, text in enumerate(self.texts, 1):
            for start, end in _passages(text):
                number += 1
                hit = Hit(number, document, self.title, self.title, number, text[start:end], start,
                          end, str(number), 0.0)  # fmt: skip
                self.passages.append(source_of(hit))

    @cached_property
    def _terms(self) -> list[frozenset[str]]:
        return [frozenset(terms(p.content)) | frozenset(terms(p.title)) for p in self.passages]

    async def near(self, text: str) -> list[Source]:
        """Every passage with enough words of ``text``: none that may state it is left out."""
        word_counts = Counter(terms(text))
        least = _SHARE * len(word_counts)
        pairs = zip(self.passages, self._terms, strict=True)
        return [passage for passage, has in pairs if len(word_counts.keys() & has) >= least]


def _passages(text: str) -> Iterator[tuple[int, int]]:
    """Spans of whole sentences."""
    start = end = 0
    for a, b in sentence_spans(text):
        if end > start and b - start > _PASSAGE:
            yield start, end
            start = a
        elif end == start:
            start = a
        end = b
    if end > start:
        yield start, end


def scopes_of(corpus: str, data: Path) -> list[Scope]:
    """The scopes of a corpus in ``data``, each of some thousand characters at least."""
    return [scope for scope in _READERS[corpus](data) if len(scope.passages) > 1][:_SCOPES]


def _squad(data: Path) -> Iterator[Scope]:
    for article in json.loads((data / "squad2/dev-8-articles.json").read_text())["data"]:
        text = "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])
        yield Scope("squad2", article["title"].replace("_", " "), [text])


def _covid(data: Path) -> Iterator[Scope]:
    articles = json.loads((data / "covidqa/covidqa.json").read_text())["data"]
    for number, article in enumerate(articles):
        text = article["paragraphs"][0]["context"]
        title = next((line for line in text.splitlines() if line.strip()), f"Article {number}")
        yield Scope("covidqa", title[:120], [text])


def _scifact(data: Path) -> Iterator[Scope]:
    lines = (data / "scifact/corpus.jsonl").read_text().splitlines()
    for at in range(0, len(lines), _ABSTRACTS):
        texts = [json.loads(line)["text"] for line in lines[at : at + _ABSTRACTS]]
        yield Scope("scifact", f"Abstracts {at + 1}", texts)


def _tatqa(data: Path) -> Iterator[Scope]:
    reports = json.loads((data / "tatqa/dev.json").read_text())
    for at in range(0, len(reports), 4):
        texts = [
            "\n\n".join(paragraph["text"] for paragraph in report["paragraphs"])
            for report in reports[at : at + 4]
        ]
        yield Scope("tatqa", f"Notes {at + 1}", texts)


_READERS = {"squad2": _squad, "covidqa": _covid, "scifact": _scifact, "tatqa": _tatqa}
