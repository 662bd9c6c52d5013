"""Questions of the public sets with the passages that a search finds, and which units answer.

Half of the questions of sets without unanswerable ones are asked of a library that lacks the
document that answers, so that a model learns to say that nothing does.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from evals.evidence.corpus import Corpus
from evals.evidence.sets import SETS, Entry, Gold
from helix.language.sentences import Passage, Unit, units_of

PASSAGES = 5
_MISSING = 0.4
"""Share of the questions whose document is kept out."""
_KEPT_OUT = 0.12
_TO_LEARN = 8  # passages of a question that the encoder learns from


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


def _half(name: str, data: Path, held: bool) -> tuple[Corpus, list[Entry]]:
    passages, documents, entries = SETS[name](data)
    kept = [place for place, document in enumerate(documents) if is_held(document) == held]
    new = {place: number for number, place in enumerate(kept)}
    corpus = Corpus([passages[place] for place in kept], [documents[place] for place in kept])
    return corpus, [
        replace(one, gold=tuple((new[p], start, end) for p, start, end in one.gold))
        for one in entries
        if is_held(one.document) == held
    ]


def _is_missing(name: str, entry: Entry) -> bool:
    """True where the answering document is left out; SQuAD has unanswerable questions already."""
    is_drawn = share_of(f"missing {entry.question}") < _MISSING
    return bool(entry.gold) and is_drawn and name != "squad2"


def _found(
    name: str, corpus: Corpus, entry: Entry, is_missing: bool,
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


def _label(unit: Unit, place: int, entry: Entry, is_missing: bool) -> int:
    for where, start, end in entry.gold:
        if where == place and unit.start < end and start < unit.end:
            return 1
    if is_missing or not entry.gold:
        return 0
    said = unit.text.casefold()
    return -1 if any(len(a) > 3 and a.casefold() in said for a in entry.answers) else 0
