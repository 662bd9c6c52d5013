"""Questions in six languages, each over the same documents in its own and over the others'.

``LANGUAGE.json`` has eight short documents of five paragraphs in Helix's own words, and forty
questions: the n-th is answered by the n-th paragraph. All files say the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from evals.datasets.records import Document, Question, QuestionSet
from evals.datasets.squad import load_xquad

LANGUAGES = ("english", "german", "french", "spanish", "japanese", "chinese")
_XQUAD = {"english": "en", "german": "de", "spanish": "es", "russian": "ru", "chinese": "zh"}


@dataclass(frozen=True)
class Library:
    """Documents that are searched together, and the sets of questions that are asked of them.

    The sets have the same documents, whose paragraphs are the chunks.
    """

    name: str
    asked: Sequence[QuestionSet]


def own_libraries() -> Iterator[Library]:
    """A library a language, asked in its language and in English; then one of all languages."""
    for language in LANGUAGES:
        documents = _documents(language)
        sets = [QuestionSet(asked, documents, _questions(asked, documents))
                for asked in dict.fromkeys((language, "english"))]  # fmt: skip
        yield Library(language, sets)
    every = [document for language in LANGUAGES for document in _documents(language)]
    eight = len(every) // len(LANGUAGES)
    asked = [_questions(language, every, n * eight) for n, language in enumerate(LANGUAGES)]
    yield Library(
        "all together",
        [QuestionSet(name, every, each) for name, each in zip(LANGUAGES, asked, strict=True)],
    )


def xquad_libraries(data: Path) -> Iterator[Library]:
    """The languages of XQuAD below the folder ``data``; raises OSError where they are not there."""
    for language, code in _XQUAD.items():
        loaded = load_xquad(data, code)
        yield Library(
            f"XQuAD {language}", [QuestionSet(language, loaded.documents, loaded.questions)]
        )


def _read(language: str) -> Any:
    return json.loads(files("evals.languages").joinpath(f"{language}.json").read_text("utf-8"))


def _documents(language: str) -> list[Document]:
    return [
        Document(one["title"], "".join(f"{paragraph}\n\n" for paragraph in one["paragraphs"]))
        for one in _read(language)["documents"]
    ]


def _questions(language: str, documents: Sequence[Document], first: int = 0) -> list[Question]:
    """The questions in ``language``, of the paragraphs from document ``first`` on."""
    asked = iter(_read(language)["questions"])
    found: list[Question] = []
    for place, document in enumerate(documents[first:], first):
        start = 0
        for paragraph in document.text.split("\n\n")[:-1]:
            if (question := next(asked, None)) is None:
                return found
            found.append(Question(question, place, ((place, start, start + len(paragraph)),)))
            start += len(paragraph) + 2
    return found
