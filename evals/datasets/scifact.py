"""SciFact (BEIR): 5,183 abstracts, and the claims that have judged evidence among them."""

from __future__ import annotations

from pathlib import Path

from evals.datasets.records import Document, Question, QuestionSet, json_lines


def load_scifact(data: Path) -> QuestionSet:
    """The set below the folder ``data``; an abstract that answers is a span of the whole of it."""
    folder = data / "scifact"
    abstracts = json_lines(folder / "corpus.jsonl")
    place = {row["_id"]: number for number, row in enumerate(abstracts)}
    judged: dict[str, list[int]] = {}
    for line in (folder / "qrels/test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            judged.setdefault(query, []).append(place[document])
    questions = [
        Question(row["text"], found[0], tuple((number, 0, -1) for number in found))
        for row in json_lines(folder / "queries.jsonl")
        if (found := judged.get(row["_id"]))
    ]
    documents = [Document(row["title"], row["text"]) for row in abstracts]
    return QuestionSet("scifact", documents, questions)
