"""Questions of the public sets with the passages that a search finds, and which units answer.

Half of the questions of sets without unanswerable ones are asked of a library that lacks the
document that answers, so that a model learns to say that nothing does.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evals.datasets import load_covidqa, load_squad
from evals.datasets.records import QuestionSet
from evals.datasets.squad import paragraphs
from evals.evidence.corpus import Corpus
from evals.evidence.manuals import FILE
from helix.evidence.units import Passage, Unit, units_of

PASSAGES = 5
_LONG = 1200  # characters of a passage cut from a long text
_MISSING = 0.4
"""Share of the questions whose document is kept out."""
_KEPT_OUT = 0.12
_TO_LEARN = 8  # passages of a question that the encoder learns from
_LANGUAGES = ("en", "de", "es", "zh", "ru")
_MANUALS = Path("build/manuals")  # where python -m evals.evidence.manuals build/manuals puts them
_FIRST = 700  # characters of what a manual says under a question, among which the answer is

Gold = tuple[int, int, int]
"""Place of a passage in its corpus, start and end of what answers in it."""


@dataclass(frozen=True)
class Asked:
    """A question asked of a library: what was found, and whether each of ``units`` answers.

    ``labels`` are 1 where one does, 0 where not, -1 where the unit has an answer's words and is
    not marked as one. ``document`` is what it is split by. ``spans`` are where the answers stand,
    by the place of their passage among ``passages``.
    """

    set: str
    document: str
    question: str
    passages: tuple[Passage, ...]
    units: tuple[Unit, ...]
    labels: tuple[int, ...]
    spans: tuple[Gold, ...] = ()


@dataclass(frozen=True)
class _Entry:
    question: str
    document: str
    gold: tuple[Gold, ...]
    answers: tuple[str, ...] = ()


def share_of(text: str) -> float:
    """A number from 0 to 1 for a text, the same each time: what halves and folds are made by."""
    return zlib.crc32(text.encode()) / 2**32


def is_held(document: str) -> bool:
    """True if a document belongs to the half that nothing is fitted on."""
    return share_of(f"half of {_whole(document)}") < 0.5


def is_kept_out(document: str) -> bool:
    """True for documents that the encoder never learns from: it is measured on them."""
    return share_of(f"kept out {_whole(document)}") < _KEPT_OUT


def _whole(document: str) -> str:
    """The name without case, and without the part of it behind a line break."""
    return document.partition("\n")[0].casefold().replace("_", " ")


def asked_of(name: str, data: Path, held: bool) -> list[Asked]:
    """The questions of a set of SETS, of one half of its documents; the halves share no passage."""
    corpus, entries = _half(name, data, held)
    found = [_found(name, corpus, one, _is_missing(name, one)) for one in entries]
    return [one for one in found if one.units]


def to_learn_from(name: str, data: Path) -> Iterator[Asked]:
    """The questions of both halves but those kept out, eight passages each, with those that answer.

    One whose document is kept out of the library is asked both ways.
    """
    for held in (False, True):
        corpus, entries = _half(name, data, held)
        for one in entries:
            if not is_kept_out(one.document):
                for is_missing in {_is_missing(name, one), False}:
                    yield _found(name, corpus, one, is_missing, _TO_LEARN, with_gold=True)


def _half(name: str, data: Path, held: bool) -> tuple[Corpus, list[_Entry]]:
    passages, documents, entries = SETS[name](data)
    kept = [place for place, document in enumerate(documents) if is_held(document) == held]
    new = {place: number for number, place in enumerate(kept)}
    corpus = Corpus([passages[place] for place in kept], [documents[place] for place in kept])
    return corpus, [
        replace(one, gold=tuple((new[p], start, end) for p, start, end in one.gold))
        for one in entries
        if is_held(one.document) == held
    ]


def _is_missing(name: str, entry: _Entry) -> bool:
    """True where the answering document is left out; SQuAD has unanswerable questions already."""
    is_drawn = share_of(f"missing {entry.question}") < _MISSING
    return bool(entry.gold) and is_drawn and name != "squad2"


def _found(
    name: str, corpus: Corpus, entry: _Entry, is_missing: bool,
    count: int = PASSAGES, with_gold: bool = False,
) -> Asked:  # fmt: skip
    places = corpus.search(entry.question, count, [entry.document] if is_missing else [])
    if with_gold and not is_missing:
        places = list(dict.fromkeys([*places, *(place for place, _, _ in entry.gold)]))
    passages = tuple(corpus.passages[place] for place in places)
    units = tuple(units_of(passages))
    labels = tuple(_label(unit, places[unit.passage], entry, is_missing) for unit in units)
    spans = tuple((places.index(p), a, b) for p, a, b in entry.gold if p in places)
    return Asked(name, entry.document, entry.question, passages, units, labels, spans)


def _label(unit: Unit, place: int, entry: _Entry, is_missing: bool) -> int:
    for where, start, end in entry.gold:
        if where == place and unit.start < end and start < unit.end:
            return 1
    if is_missing or not entry.gold:
        return 0
    said = unit.text.casefold()
    return -1 if any(len(a) > 3 and a.casefold() in said for a in entry.answers) else 0


_Set = tuple[list[Passage], list[str], list[_Entry]]


def _spans(loaded: QuestionSet, cut: Iterator[tuple[int, int, int]]) -> _Set:
    places = list(cut)
    titles = [document.title for document in loaded.documents]
    passages = [Passage(loaded.documents[d].text[a:b], titles[d]) for d, a, b in places]
    entries = [
        _Entry(one.text, titles[one.document], tuple(
            (place, start - a, end - a)
            for place, (d, a, b) in enumerate(places)
            for where, start, end in set(one.spans)
            if where == d and a <= start < b
        ), one.answers)
        for one in loaded.questions
    ]  # fmt: skip
    return passages, [titles[d] for d, _, _ in places], entries


def _squad(data: Path) -> _Set:
    loaded = load_squad(data)
    return _spans(loaded, paragraphs(loaded))


def _covid(data: Path) -> _Set:
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


def _xquad(language: str) -> Callable[[Path], _Set]:
    def load(data: Path) -> _Set:
        passages: list[Passage] = []
        documents: list[str] = []
        entries: list[_Entry] = []
        for article in json.loads((data / f"xquad/{language}.json").read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for entry in paragraph["qas"]:
                    gold = {(a["answer_start"], a["text"]) for a in entry["answers"]}
                    entries.append(_Entry(
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
) -> _Set:
    """Rows of question, document, sentences and the places of those that answer."""
    passages: list[Passage] = []
    documents: list[str] = []
    entries: list[_Entry] = []
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
        entries.append(_Entry(question, document, gold, tuple(clean[n] for n in answers)))
    return passages, documents, entries


def _selqa(data: Path) -> _Set:
    rows = json.loads((data / "selqa/sentences.json").read_text("utf-8"))
    return _of_sentences(
        [(row["question"], row["article"], row["candidates"], row["answers"]) for row in rows],
        [f"{row['article']}, {row['section']}" for row in rows],
    )


def _clapnq(data: Path) -> _Set:
    rows: list[tuple[str, str, Sequence[str], Sequence[int]]] = []
    for file in ("answerable", "unanswerable"):
        for line in (data / f"clapnq/{file}.jsonl").read_text("utf-8").splitlines():
            one = json.loads(line)
            passage = one["passages"][0]
            chosen = one["output"][0]["selected_sentences"]
            marked = [n for n, text in enumerate(passage["sentences"]) if text in chosen]
            rows.append((one["input"], passage["title"], passage["sentences"], marked))
    return _of_sentences(rows, [title for _, title, _, _ in rows])


def _tatqa(data: Path) -> _Set:
    passages: list[Passage] = []
    documents: list[str] = []
    entries: list[_Entry] = []
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
                    entries.append(_Entry(asked["question"], name, gold, tuple(asked["answer"])))
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


def _manuals(_: Path) -> _Set:
    passages: list[Passage] = []
    documents: list[str] = []
    entries: list[_Entry] = []
    if not (_MANUALS / FILE).is_file():
        sys.exit(f"{_MANUALS / FILE} is missing: python -m evals.evidence.manuals {_MANUALS}")
    for line in (_MANUALS / FILE).read_text("utf-8").splitlines():
        one = json.loads(line)
        document = f"{one['package']}\n{one['question']}"
        gold = len(passages), 0, min(_FIRST, len(one["answer"]))
        entries.append(_Entry(one["question"], document, (gold,)))
        for start, end in _pieces(one["answer"]):
            passages.append(Passage(one["answer"][start:end], one["package"].replace("-", " ")))
            documents.append(document)
    return passages, documents, entries


SETS: dict[str, Callable[[Path], _Set]] = {
    "squad2": _squad,
    "covidqa": _covid,
    "selqa": _selqa,
    "clapnq": _clapnq,
    "tatqa": _tatqa,
    "manuals": _manuals,
    **{f"xquad {language}": _xquad(language) for language in _LANGUAGES},
}
"""Sets by name, with what reads each: its passages, their documents, its questions."""
