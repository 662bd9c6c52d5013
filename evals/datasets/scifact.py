"""SciFact (BEIR): 5,183 abstracts, and the claims that have judged evidence among them."""

from __future__ import annotations

import json
from pathlib import Path

from evals.datasets.records import Document, Question, QuestionSet


def load_scifact(data: Path) -> QuestionSet:
    """The set below the folder ``data``; an abstract that answers is a span of the whole of it."""
    folder = data / "scifact"
    abstracts = _lines(folder / "corpus.jsonl")
    place = {row["_id"]: number for number, row in enumerate(abstracts)}
    judged: dict[str, list[int]] = {}
    for line in (folder / "qrels/test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            judged.setdefault(query, []).append(place[document])
    questions = [
        Question(row["text"], found[0], tuple((number, 0, -1) for number in found))
        for row in _lines(folder / "queries.jsonl")
        if (found := judged.get(row["_id"]))
    ]
    documents = [Document(row["title"], row["text"]) for row in abstracts]
    return QuestionSet("scifact", documents, questions)


def _lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
