"""Questions by identifier: ``python -m evals.identifiers --data DIR`` prints Markdown.

The documents are the quarterly reports of ``sec10q`` and the articles of ``covidqa``, split as
Helix splits them. The identifiers are those in one or two documents and five chunks at most: file,
exhibit, rule and catalogue numbers, accession codes, strains, software versions. The draw is
seeded; every other one is asked for in the other case.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from evals.offline_sets import Document, QuestionSet, load_covidqa
from evals.retrieval import SIZE, Corpus, run
from helix.providers.offline.vectors import word_vectors
from pipelines.readers import read
from pipelines.splitters import chunk_spans

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


def identifiers(texts: Sequence[str]) -> list[tuple[str, set[int]]]:
    """Identifiers that are in one or two of the texts, with which (their places)."""
    found: dict[str, set[int]] = {}
    written: dict[str, str] = {}
    for number, text in enumerate(texts):
        for match in _IDENTIFIER.finditer(text):
            if _names_something(match[0]):
                found.setdefault(match[0].casefold(), set()).add(number)
                written.setdefault(match[0].casefold(), match[0])
    return [(written[key], where) for key, where in found.items() if len(where) <= 2]


def _names_something(word: str) -> bool:
    """Digits with letters or a sign between them, and not prose."""
    mixed = re.search(r"\d", word) and re.search(r"[A-Za-z_\-]", word)
    return bool(mixed) and 4 <= len(word) <= 24 and not _PROSE.match(word)


def drawn(documents: Sequence[Document], seed: int) -> Iterator[tuple[str, str]]:
    """(identifier, question) pairs of these documents."""
    source = random.Random(seed)
    texts = [document.text for document in documents]
    found = identifiers(texts)
    for number, (name, _) in enumerate(source.sample(found, min(EACH, len(found)))):
        asked = name.swapcase() if number % 2 else name
        yield name, source.choice(TEMPLATES).format(asked)


def reports(data: Path) -> list[Document]:
    """The quarterly reports, as Helix reads PDF."""
    paths = sorted((data / "sec10q/docs").glob("*.pdf"))[::3]
    return [Document(path.stem, read("pdf", path.read_bytes()).text) for path in paths]


def corpus(data: Path) -> Corpus:
    """Both collections as one corpus, and the questions of both."""
    collections = [reports(data), list(load_covidqa(data).documents)]
    documents = [document for documents in collections for document in documents]
    chunks = [
        (number, start, end)
        for number, document in enumerate(documents)
        for start, end in chunk_spans(document.text, *SIZE)
    ]
    texts = [documents[d].text[s:e] for d, s, e in chunks]
    asked = [pair for seed, each in enumerate(collections) for pair in drawn(each, seed)]
    relevant = [{n for n, text in enumerate(texts) if mentions(text, name)} for name, _ in asked]
    kept = [n for n, right in enumerate(relevant) if 1 <= len(right) <= 5]
    questions = [asked[n][1] for n in kept]
    titled = [
        f"{documents[d].title}\n\n{text}" for (d, _, _), text in zip(chunks, texts, strict=True)
    ]
    vectors = word_vectors()
    return Corpus(
        "Identifiers", QuestionSet("identifiers", documents, []), chunks, vectors.embed(titled),
        questions, vectors.embed(questions), [relevant[n] for n in kept],
    )  # fmt: skip


def mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", text, re.IGNORECASE) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    run(iter([corpus(parser.parse_args().data)]))


if __name__ == "__main__":
    main()
