"""The public question sets as documents and questions, read from a data folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Document:
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question and where its answer is: ``spans`` are (document, start, end).

    A span of (document, 0, -1) means anywhere in that document; no span, that the documents do
    not answer it. ``document`` is the one it was asked about.
    """

    text: str
    document: int
    spans: tuple[tuple[int, int, int], ...]
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuestionSet:
    name: str
    documents: Sequence[Document]
    questions: Sequence[Question]

    @property
    def answerable(self) -> list[Question]:
        return [question for question in self.questions if question.spans]

    @property
    def near_miss(self) -> list[Question]:
        return [question for question in self.questions if not question.spans]


def load_squad(data: Path) -> QuestionSet:
    """Eight Wikipedia articles, each one document, with near-miss unanswerable questions."""
    articles = json.loads((data / "squad2/dev-8-articles.json").read_text("utf-8"))["data"]
    return _load("squad2", articles, lambda a: str(a["title"]).replace("_", " "))


def load_covidqa(data: Path) -> QuestionSet:
    """98 scientific articles; the title is the first line."""
    articles = json.loads((data / "covidqa/covidqa.json").read_text("utf-8"))["data"]
    return _load(
        "covidqa", articles, lambda a: str(a["paragraphs"][0]["context"]).split("\n")[0][:200]
    )


def _load(name: str, articles: Sequence[Any], title_of: Callable[[Any], str]) -> QuestionSet:
    documents: list[Document] = []
    questions: list[Question] = []
    for number, article in enumerate(articles):
        text = ""
        for paragraph in article["paragraphs"]:
            questions += [_question(entry, number, len(text)) for entry in paragraph["qas"]]
            text += paragraph["context"] + "\n\n"
        documents.append(Document(title_of(article), text))
    return QuestionSet(name, documents, questions)


def _question(entry: Any, document: int, offset: int) -> Question:
    if entry.get("is_impossible"):
        return Question(entry["question"], document, ())
    answers = [(a["text"].rstrip(), a["answer_start"] + offset) for a in entry["answers"]]
    spans = tuple((document, start, start + len(text)) for text, start in answers)
    return Question(entry["question"], document, spans, tuple(text for text, _ in answers))


def load_scifact(data: Path) -> QuestionSet:
    """5,183 abstracts and the claims that have judged evidence among them."""
    folder = data / "scifact"
    lines = (folder / "corpus.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    place = {row["_id"]: number for number, row in enumerate(rows)}
    judged: dict[str, list[int]] = {}
    for line in (folder / "qrels/test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            judged.setdefault(query, []).append(place[document])
    questions = [
        Question(row["text"], judged[row["_id"]][0], tuple((d, 0, -1) for d in judged[row["_id"]]))
        for row in map(json.loads, (folder / "queries.jsonl").read_text("utf-8").splitlines())
        if row["_id"] in judged
    ]
    return QuestionSet("scifact", [Document(r["title"], r["text"]) for r in rows], questions)


def load_all(data: Path) -> list[QuestionSet]:
    """SQuAD 2, COVID-QA and SciFact."""
    return [load_squad(data), load_covidqa(data), load_scifact(data)]
