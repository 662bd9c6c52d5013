"""Questions put to a corpus through the search that serves, and what each came to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evals.offline_sets import QuestionSet
from evals.retrieval import Corpus, ingest, padded
from helix.calibration.model import GateModel
from helix.calibration.signals import SIGNALS, signals
from helix.contract import DEFAULT_TOP_K
from helix.hybrid_sql import Fusion
from helix.providers.offline import MAX_DISTANCE
from helix.providers.offline.vectors import IDENTITY, word_vectors
from helix.records import Found, Hit
from helix.scope import Scope
from helix.store import ChunkStore

COVERED = "covered"
NEAR_MISS = "near miss"
LEFT_OUT = "left out"
FOREIGN = "foreign"
"""Kinds of a question: the documents answer it; it is of their topics and words, and they do not;
it is of a document that the search was kept from; it is of other documents altogether (a name
follows: ``foreign: covidqa``)."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A question to ask: of its ``kind``, about ``document`` (a number of its own set's).

    ``without`` are documents.id that the search leaves out; ``answers`` spans that answer it, as
    evals.offline_sets has them.
    """

    text: str
    kind: str
    document: int = 0
    without: tuple[int, ...] = ()
    answers: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Asked:
    """A question and what its search came to.

    ``distance`` is the nearest cosine distance, None where there is none; ``signals`` are None
    where there is nothing to tell by; ``found``: whether one of the first five chunks answers, None
    where that is not known. ``exact``: either gate lets it pass by its lexical match alone.
    """

    question: Question
    distance: float | None
    signals: tuple[float, ...] | None
    found: bool | None = None
    exact: bool = False

    @property
    def kind(self) -> str:
        return self.question.kind

    @property
    def covered(self) -> bool:
        return self.kind == COVERED


def of(
    question: Question, found: Found, answered: bool | None = None, *, lexical: bool = True
) -> Asked:
    """What is kept of one search; ``lexical`` as HELIX_GATE_LEXICAL has it."""
    nearest = found.nearest
    distance = None if nearest is None or nearest != nearest else nearest
    exact = lexical and found.lexical(DEFAULT_TOP_K).exact
    return Asked(question, distance, signals(question.text, found), answered, exact)


async def ask(
    store: ChunkStore,
    questions: Sequence[Question],
    vectors: Sequence[Sequence[float]],
    fusion: Fusion,
    documents: Sequence[int],
) -> list[tuple[Question, Found]]:
    """Search for each question, as serving does; ``documents`` are all of the tenant's ids."""
    asked = []
    for question, vector in zip(questions, vectors, strict=True):
        among = tuple(d for d in documents if d not in question.without)
        scope = Scope(store.tenant, document_ids=among if question.without else None)
        found = await store.search_hybrid(question.text, vector, DEFAULT_TOP_K, scope, fusion)
        asked.append((question, found))
    return asked


async def ask_set(
    store: ChunkStore, corpus: Corpus, others: Iterable[QuestionSet], *, left_out: bool = True
) -> list[Asked]:
    """Fill the empty ``store`` with a public set, ask it its own questions and those of others.

    Each of its answerable questions is asked twice with ``left_out``: the second time its document
    is kept from the search.
    """
    await ingest(store, corpus)
    rows = await store.fetch("SELECT source_uri, id FROM documents", {})
    ids = {int(uri.rpartition("/")[2]): int(number) for uri, number in rows}
    questions = own_questions(corpus.source, ids if left_out else {})
    for other in others:
        kind = f"{FOREIGN}: {other.name}"
        questions += [Question(q.text, kind, q.document) for q in other.questions]
    vectors = word_vectors().embed([question.text for question in questions])
    places = {number: place for place, number in ids.items()}
    found = await ask(
        store, questions, [padded(vector) for vector in vectors], Fusion(corpus.weight),
        list(ids.values()),
    )  # fmt: skip
    return [of(q, each, _answered(q, each.hits, places)) for q, each in found]


def own_questions(source: QuestionSet, ids: dict[int, int]) -> list[Question]:
    """A set's own questions; with ``ids`` (documents.id by place) the left-out ones too."""
    asked = []
    for each in source.questions:
        kind = COVERED if each.spans else NEAR_MISS
        own = Question(each.text, kind, each.document, (), each.spans)
        asked.append(own)
        if each.spans and ids:
            asked.append(replace(own, kind=LEFT_OUT, without=(ids[each.document],), answers=()))
    return asked


def _answered(question: Question, hits: Sequence[Hit], places: dict[int, int]) -> bool | None:
    if not question.answers:
        return None
    return any(
        places[hit.document_id] == document
        and (end < 0 or ((hit.start_char or 0) <= start and end <= (hit.end_char or 0)))
        for hit in hits
        for document, start, end in question.answers
    )


PASSES, FAILS = np.inf, -np.inf
"""Scores of what a gate lets pass, and refuses, whatever its threshold."""


def by_distance(asked: Sequence[Asked]) -> Floats:
    """Scores of the plain gate, as helix.gate.decide goes: the nearest distance, negated."""
    scores = [FAILS if one.distance is None else -one.distance for one in asked]
    return _with_exact(asked, scores)


def by_model(
    asked: Sequence[Asked], model: GateModel, ceiling: float | None = MAX_DISTANCE
) -> Floats:
    """Scores of the calibrated gate, as helix.gate.decide goes where no ceiling was set.

    Where there is nothing to tell by the distance decides, by the embedder's own ``ceiling``.
    """
    scores = [
        _by_ceiling(one, ceiling) if one.signals is None else model.probability(one.signals)
        for one in asked
    ]
    return _with_exact(asked, scores)


def _by_ceiling(one: Asked, ceiling: float | None) -> float:
    within = one.distance is not None and ceiling is not None and one.distance <= ceiling
    return PASSES if within else FAILS


def _with_exact(asked: Sequence[Asked], scores: Sequence[float]) -> Floats:
    pairs = zip(asked, scores, strict=True)
    return np.array([PASSES if one.exact else score for one, score in pairs])


def matrix(asked: Sequence[Asked]) -> Floats:
    """The signals, of shape (questions, SIGNALS); where there are none, as bad as can be."""
    worst = (-2.0, *[0.0] * (len(SIGNALS) - 1))
    return np.array([one.signals or worst for one in asked], dtype=np.float64)


def weights_of(asked: Sequence[Asked], ignored: Sequence[str] = ()) -> Floats:
    """Weights for a fit: covered and uncovered count the same, and each uncovered kind as much.

    Kinds that are ``ignored`` weigh nothing.
    """
    kinds = np.array([one.kind for one in asked])
    weights = np.zeros(len(asked))
    uncovered = [kind for kind in sorted(set(kinds)) if kind != COVERED and kind not in ignored]
    for kind in uncovered:
        weights[kinds == kind] = 1 / len(uncovered) / (kinds == kind).sum()
    weights[kinds == COVERED] = 1 / max((kinds == COVERED).sum(), 1)
    return weights


OFFLINE = IDENTITY
"""The identity of the embedder that the public sets are measured with."""
