"""Questions put to a corpus through the search that serves, and what a gate knows of each then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evals.calibration.questions import COVERED, FOREIGN, LEFT_OUT, NEAR_MISS, GateQuestion
from evals.corpora import JudgedCorpus, padded, store_corpus
from evals.datasets.records import QuestionSet, answers
from helix.domain.contract import DEFAULT_TOP_K
from helix.domain.records import Hit, SearchResult
from helix.domain.retrieval import Fusion
from helix.domain.scope import Scope
from helix.evidence.vectors import word_vectors
from helix.retrieval.calibration.signals import signals
from helix.store import ChunkStore


@dataclass(frozen=True)
class SearchedQuestion:
    """A question and what a gate decides by after its search.

    ``distance`` is the nearest cosine distance, None where there is none; ``signals`` are None
    where there is nothing to tell by. ``found``: whether one of the first five chunks answers, None
    where that is not known. ``exact``: either gate lets it pass by its lexical match alone.
    """

    question: GateQuestion
    distance: float | None
    signals: tuple[float, ...] | None
    found: bool | None = None
    exact: bool = False

    @property
    def kind(self) -> str:
        """The question's."""
        return self.question.kind

    @property
    def covered(self) -> bool:
        """True where the documents answer it."""
        return self.kind == COVERED


def searched(
    question: GateQuestion,
    found: SearchResult,
    answered: bool | None = None,
    *,
    lexical: bool = True,
) -> SearchedQuestion:
    """The signals of a search that a gate knows; ``lexical`` as HELIX_GATE_LEXICAL has it."""
    nearest = found.nearest
    distance = None if nearest is None or nearest != nearest else nearest
    exact = lexical and found.lexical(DEFAULT_TOP_K).exact
    return SearchedQuestion(question, distance, signals(question.text, found), answered, exact)


async def search_questions(
    store: ChunkStore,
    questions: Sequence[GateQuestion],
    vectors: Sequence[Sequence[float]],
    fusion: Fusion,
    documents: Sequence[int],
) -> list[tuple[GateQuestion, SearchResult]]:
    """Search for each question, as serving does; ``documents`` are all of the tenant's ids."""
    found = []
    for question, vector in zip(questions, vectors, strict=True):
        among = tuple(d for d in documents if d not in question.without)
        scope = Scope(store.tenant, document_ids=among if question.without else None)
        each = await store.search_hybrid(question.text, vector, DEFAULT_TOP_K, scope, fusion)
        found.append((question, each))
    return found


async def search_set(
    store: ChunkStore, corpus: JudgedCorpus, others: Iterable[QuestionSet], *, left_out: bool = True
) -> list[SearchedQuestion]:
    """Fill the empty ``store`` with a public set, ask it its own questions and those of others.

    Each of its answerable questions is asked twice with ``left_out``: the second time its document
    is kept from the search.
    """
    await store_corpus(store, corpus)
    rows = await store.fetch("SELECT source_uri, id FROM documents", {})
    ids = {int(row["source_uri"].rpartition("/")[2]): row["id"] for row in rows}
    questions = list(_own_questions(corpus.source, ids if left_out else {}))
    for other in others:
        kind = f"{FOREIGN}: {other.name}"
        questions += [GateQuestion(q.text, kind, q.document) for q in other.questions]
    vectors = word_vectors().embed([question.text for question in questions])
    places = {number: place for place, number in ids.items()}
    found = await search_questions(
        store, questions, [padded(vector) for vector in vectors], Fusion(corpus.weight),
        list(ids.values()),
    )  # fmt: skip
    return [searched(q, each, _answered(q, each.hits, places)) for q, each in found]


def _own_questions(source: QuestionSet, ids: dict[int, int]) -> Iterable[GateQuestion]:
    """A set's own questions; with ``ids`` (documents.id by place) the left-out ones too."""
    for each in source.questions:
        kind = COVERED if each.spans else NEAR_MISS
        own = GateQuestion(each.text, kind, each.document, (), each.spans)
        yield own
        if each.spans and ids:
            yield replace(own, kind=LEFT_OUT, without=(ids[each.document],), spans=())


def _answered(question: GateQuestion, hits: Sequence[Hit], places: dict[int, int]) -> bool | None:
    if not question.spans:
        return None
    return any(
        answers(question.spans, places[h.document_id], h.start_char or 0, h.end_char or 0)
        for h in hits
    )
