"""The sets in SQuAD 2's format: SQuAD 2 itself, COVID-QA, and XQuAD.

SQuAD 2 are eight Wikipedia articles, with near-miss questions that they do not answer; COVID-QA are
98 scientific articles and questions by experts; XQuAD are SQuAD's articles in several languages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evals.datasets.records import Document, Question, QuestionSet, Span


def load_squad(data: Path) -> QuestionSet:
    """SQuAD 2 below the folder ``data``, an article a document."""
    file = data / "squad2/dev-8-articles.json"
    return _load("squad2", file, lambda article: article["title"].replace("_", " "))


def load_covidqa(data: Path) -> QuestionSet:
    """COVID-QA below the folder ``data``; an article's title is its first line."""
    return _load("covidqa", data / "covidqa/covidqa.json", _first_line)


def load_xquad(data: Path, language: str) -> QuestionSet:
    """XQuAD below the folder ``data`` in ``language``, by its ISO code, an article a document."""
    file = data / f"xquad/{language}.json"
    return _load(f"xquad-{language}", file, lambda article: article["title"].replace("_", " "))


def _first_line(article: Any) -> str:
    return str(article["paragraphs"][0]["context"]).split("\n")[0][:200]


def paragraphs(squad: QuestionSet) -> Iterator[Span]:
    """The paragraphs of the articles, as they are joined here."""
    for number, document in enumerate(squad.documents):
        start = 0
        for paragraph in document.text.split("\n\n")[:-1]:
            yield number, start, start + len(paragraph)
            start += len(paragraph) + 2


def _load(name: str, file: Path, title_of: Callable[[Any], str]) -> QuestionSet:
    """A file in SQuAD 2's format; the paragraphs of an article are one document.

    Raises:
        OSError, ValueError, KeyError: the file cannot be read or has another format.
    """
    documents: list[Document] = []
    questions: list[Question] = []
    for number, article in enumerate(json.loads(file.read_text("utf-8"))["data"]):
        text = ""
        for paragraph in article["paragraphs"]:
            questions += [_question(entry, number, len(text)) for entry in paragraph["qas"]]
            text += paragraph["context"] + "\n\n"
        documents.append(Document(title_of(article), text))
    return QuestionSet(name, documents, questions)


def _question(entry: Any, document: int, offset: int) -> Question:
    if entry.get("is_impossible"):
        return Question(entry["question"], document, ())
    found = [(a["text"].rstrip(), a["answer_start"] + offset) for a in entry["answers"]]
    spans = tuple((document, start, start + len(text)) for text, start in found)
    return Question(entry["question"], document, spans, tuple(text for text, _ in found))
