"""Questions by identifier, made of quarterly reports and scientific articles.

The documents are the reports of ``sec10q`` and the articles of ``covidqa``. The identifiers are
those in one or two documents: file, exhibit, rule and catalogue numbers, accession codes, strains,
software versions. The draw is seeded; every other identifier is asked for in the other case.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from evals.datasets.records import Document, Question, QuestionSet, Span
from evals.datasets.sec10q import load_reports
from evals.datasets.squad import load_covidqa

EACH = 100
"""Questions of each of the two collections at most."""
TEMPLATES = (
    "What is said about {}?",
    "Where is {} mentioned?",
    "{}",
    "What does {} stand for in this document?",
    "Find the passage on {}.",
)
_IDENTIFIER = re.compile(r"(?<![\w.\-/])[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*")
_PROSE = re.compile(
    r"^\d+-[a-z]+$|^[a-z]+-\d+$|^\d+[a-z]{1,2}$|^\d{1,4}-\d{1,4}$|^https?", re.IGNORECASE
)
"""``30-day``, ``19th``, ``5ml``, ``12-34``: words and ranges, not names of anything."""


def load_identifiers(data: Path) -> QuestionSet:
    """Both collections as one set; a question's spans are all mentions of its identifier."""
    collections = [load_reports(data, every=3), list(load_covidqa(data).documents)]
    documents = [document for documents in collections for document in documents]
    questions = []
    for seed, collection in enumerate(collections):
        for name, text in _drawn(collection, seed):
            spans = tuple(_mentions(name, documents))
            questions.append(Question(text, spans[0][0], spans))
    return QuestionSet("identifiers", documents, questions)


def _drawn(documents: Sequence[Document], seed: int) -> Iterator[tuple[str, str]]:
    """(identifier, question) pairs."""
    source = random.Random(seed)
    found = _identifiers([document.text for document in documents])
    for number, name in enumerate(source.sample(found, min(EACH, len(found)))):
        asked = name.swapcase() if number % 2 else name
        yield name, source.choice(TEMPLATES).format(asked)


def _identifiers(texts: Sequence[str]) -> list[str]:
    """Identifiers that are in one or two of the texts."""
    found: dict[str, set[int]] = {}
    written: dict[str, str] = {}
    for number, text in enumerate(texts):
        for match in _IDENTIFIER.finditer(text):
            if _is_identifier(match[0]):
                found.setdefault(match[0].casefold(), set()).add(number)
                written.setdefault(match[0].casefold(), match[0])
    return [written[key] for key, where in found.items() if len(where) <= 2]


def _is_identifier(word: str) -> bool:
    """Digits with letters or a sign between them, and not prose."""
    mixed = re.search(r"\d", word) and re.search(r"[A-Za-z_\-]", word)
    return bool(mixed) and 4 <= len(word) <= 24 and not _PROSE.match(word)


def _mentions(name: str, documents: Sequence[Document]) -> Iterator[Span]:
    pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])", re.IGNORECASE)
    for number, document in enumerate(documents):
        for match in pattern.finditer(document.text):
            yield number, match.start(), match.end()
