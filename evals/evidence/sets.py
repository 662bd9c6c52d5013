"""Sets of questions by name: passages, the document of each, questions with where answers stand."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.datasets import load_covidqa, load_squad
from evals.datasets.records import QuestionSet
from evals.datasets.squad import paragraphs
from evals.evidence import handbooks, manuals
from helix.language.sentences import Passage

_LONG = 1200  # characters of a passage cut from a long text
_LANGUAGES = ("en", "de", "es", "zh", "ru")
_MANUALS = Path("build/manuals") / manuals.FILE
_HANDBOOKS = Path("build/handbooks") / handbooks.FILE
_FIRST = 700  # characters of what a manual says under a question, among which the answer is

Gold = tuple[int, int, int]
"""Place of a passage in its corpus, start and end of what answers in it."""


@dataclass(frozen=True)
class Entry:
    """A question, its document, the places that answer it and an answer's words."""

    question: str
    document: str
    gold: tuple[Gold, ...]
    answers: tuple[str, ...] = ()


QuestionsOfSet = tuple[list[Passage], list[str], list[Entry]]
"""The passages of a set, the document of each, and its questions."""


def _spans(loaded: QuestionSet, cut: Iterator[tuple[int, int, int]]) -> QuestionsOfSet:
    places = list(cut)
    titles = [document.title for document in loaded.documents]
    passages = [Passage(loaded.documents[d].text[a:b], titles[d]) for d, a, b in places]
    entries = [
        Entry(one.text, titles[one.document], tuple(
            (place, start - a, end - a)
            for place, (d, a, b) in enumerate(places)
            for where, start, end in set(one.spans)
            if where == d and a <= start < b
        ), one.answers)
        for one in loaded.questions
    ]  # fmt: skip
    return passages, [titles[d] for d, _, _ in places], entries


def _squad(data: Path) -> QuestionsOfSet:
    loaded = load_squad(data)
    return _spans(loaded, paragraphs(loaded))


def _covid(data: Path) -> QuestionsOfSet:
    loaded = load_covidqa(data)
    cut = ((d, a, b) for d, doc in enumerate(loaded.documents) for a, b in _pieces(doc.text))
    return _spans(loaded, cut)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of about 1,200 characters that end where sentences do."""
    start = last = 0
    for match in re.finditer(r"[.\n]\s+", text):
        if match.end() - start > _LONG and last > start:
            yield start, last
            start = last
        last = match.end()
    yield start, len(text)


def _xquad(language: str) -> Callable[[Path], QuestionsOfSet]:
    def load(data: Path) -> QuestionsOfSet:
        passages: list[Passage] = []
        documents: list[str] = []
        entries: list[Entry] = []
        for article in json.loads((data / f"xquad/{language}.json").read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for entry in paragraph["qas"]:
                    gold = {(a["answer_start"], a["text"]) for a in entry["answers"]}
                    entries.append(Entry(
                        entry["question"], article["title"],
                        tuple((len(passages), start, start + len(t)) for start, t in gold),
                        tuple(t for _, t in gold),
                    ))  # fmt: skip
                title = article["title"].replace("_", " ")
                passages.append(Passage(paragraph["context"], title))
                documents.append(article["title"])
        return passages, documents, entries

    return load


def _of_sentences(
    rows: Sequence[tuple[str, str, Sequence[str], Sequence[int]]], titles: Sequence[str]
) -> QuestionsOfSet:
    """Rows of question, document, sentences and the places of those that answer."""
    passages: list[Passage] = []
    documents: list[str] = []
    entries: list[Entry] = []
    place_of: dict[str, int] = {}
    for (question, document, sentences, answers), title in zip(rows, titles, strict=True):
        clean = [" ".join(sentence.split()) for sentence in sentences]
        text = " ".join(clean)
        if text not in place_of:
            place_of[text] = len(passages)
            passages.append(Passage(text, title))
            documents.append(document)
        starts = [sum(len(one) + 1 for one in clean[:n]) for n in range(len(clean))]
        gold = tuple((place_of[text], starts[n], starts[n] + len(clean[n])) for n in answers)
        entries.append(Entry(question, document, gold, tuple(clean[n] for n in answers)))
    return passages, documents, entries


def _selqa(data: Path) -> QuestionsOfSet:
    rows = json.loads((data / "selqa/sentences.json").read_text("utf-8"))
    return _of_sentences(
        [(row["question"], row["article"], row["candidates"], row["answers"]) for row in rows],
        [f"{row['article']}, {row['section']}" for row in rows],
    )


def _clapnq(data: Path) -> QuestionsOfSet:
    rows: list[tuple[str, str, Sequence[str], Sequence[int]]] = []
    for file in ("answerable", "unanswerable"):
        for line in (data / f"clapnq/{file}.jsonl").read_text("utf-8").splitlines():
            one = json.loads(line)
            passage = one["passages"][0]
            chosen = one["output"][0]["selected_sentences"]
            marked = [n for n, text in enumerate(passage["sentences"]) if text in chosen]
            rows.append((one["input"], passage["title"], passage["sentences"], marked))
    return _of_sentences(rows, [title for _, title, _, _ in rows])


def _tatqa(data: Path) -> QuestionsOfSet:
    passages: list[Passage] = []
    documents: list[str] = []
    entries: list[Entry] = []
    for one in json.loads((data / "tatqa/dev.json").read_text("utf-8")):
        first, name = len(passages), one["table"]["uid"]
        ordered = sorted(one["paragraphs"], key=lambda p: int(p["order"]))
        passages += [Passage(paragraph["text"]) for paragraph in ordered]
        header, *rows = one["table"]["table"]
        passages.append(Passage("\n".join(_row(header, row) for row in rows if any(row))))
        documents += [name] * (len(passages) - first)
        for asked in one["questions"]:
            if asked["answer_type"] == "span":
                gold = tuple(_of_tatqa(asked, ordered, first, passages))
                if gold:
                    entries.append(Entry(asked["question"], name, gold, tuple(asked["answer"])))
    return passages, documents, entries


def _row(header: Sequence[str], row: Sequence[str]) -> str:
    cells = [f"{name}: {cell}" for name, cell in zip(header[1:], row[1:], strict=False) if cell]
    return " | ".join([row[0] or "-", *cells]).replace("\n", " ") + " |"


def _of_tatqa(
    asked: Any, ordered: Sequence[Any], first: int, passages: Sequence[Passage]
) -> Iterator[Gold]:
    """Places of an answer: in the paragraphs named, or the row most like the question."""
    answer = asked["answer"][0]
    if asked["answer_from"] == "text":
        for number in map(int, asked["rel_paragraphs"]):
            at = next((n for n, p in enumerate(ordered) if int(p["order"]) == number), None)
            if at is not None and (start := passages[first + at].text.find(answer)) >= 0:
                yield first + at, start, start + len(answer)
    elif asked["answer_from"] == "table":
        table = passages[first + len(ordered)].text
        words = set(re.findall(r"\w+", asked["question"].lower()))
        best, start = None, 0
        for line in table.split("\n"):
            if answer in line:
                shared = len(words & set(re.findall(r"\w+", line.partition(" | ")[0].lower())))
                if shared and (best is None or shared > best[0]):
                    best = shared, start, start + len(line)
            start += len(line) + 1
        if best:
            yield first + len(ordered), best[1], best[2]


def _manuals(_: Path) -> QuestionsOfSet:
    passages: list[Passage] = []
    documents: list[str] = []
    entries: list[Entry] = []
    for line in _fetched(_MANUALS, "manuals").splitlines():
        one = json.loads(line)
        document = f"{one['package']}\n{one['question']}"
        gold = len(passages), 0, min(_FIRST, len(one["answer"]))
        entries.append(Entry(one["question"], document, (gold,)))
        for start, end in _pieces(one["answer"]):
            passages.append(Passage(one["answer"][start:end], one["package"].replace("-", " ")))
            documents.append(document)
    return passages, documents, entries


def _handbooks(_: Path) -> QuestionsOfSet:
    passages: list[Passage] = []
    documents: list[str] = []
    first: dict[str, int] = {}
    found, questions = json.loads(_fetched(_HANDBOOKS, "handbooks"))
    for document, cut in found.items():
        first[document] = len(passages)
        passages += [Passage(text, headings) for text, headings in cut]
        documents += [document] * len(cut)
    entries = [
        Entry(one["question"], one["document"], tuple(
            (first[one["document"]] + place, start, end) for place, start, end in one["gold"]
        ), tuple(found[one["document"]][place][0][start:end] for place, start, end in one["gold"]))
        for one in questions
    ]  # fmt: skip
    return passages, documents, entries


def _fetched(file: Path, module: str) -> str:
    """The text of what a module of this package brings to ``file``."""
    if not file.is_file():
        sys.exit(f"{file} is missing: python -m evals.evidence.{module} {file.parent}")
    return file.read_text("utf-8")


SETS: dict[str, Callable[[Path], QuestionsOfSet]] = {
    "squad2": _squad,
    "covidqa": _covid,
    "selqa": _selqa,
    "clapnq": _clapnq,
    "tatqa": _tatqa,
    "manuals": _manuals,
    "handbooks": _handbooks,
    **{f"xquad {language}": _xquad(language) for language in _LANGUAGES},
}
"""Sets by name, with what reads each: its passages, their documents, its questions."""
