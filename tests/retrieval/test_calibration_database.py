"""The calibrated gate over a real database: frequencies, fits by tenant, which of them decides."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evals.calibrate import generated_questions, main, search_database
from evals.calibration.questions import COVERED, LEFT_OUT
from helix.domain.retrieval import Fusion
from helix.domain.scope import Scope
from helix.language.terms import question_words
from helix.retrieval.calibration import Calibration, GateModel, build_calibration
from helix.retrieval.calibration.fits import PACKAGED, GateFit, corpus_size, latest_fit, record_fit
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.searches import fuse
from helix.retrieval.vector_space import Space
from helix.settings import load_settings
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, opened, record, word_embedder, write
from tests.support.wire.gemini import word_vector

TEXTS = {
    "river.txt": "The river freezes in winter.\n\nThe river floods in spring after the snow melts.",
    "school.txt": "A teacher marks essays.\n\nEvery student of the school reads by the river.",
}
SENTENCES = (
    "Every autumn otters gather dry leaves, twigs and moss to line shelters along muddy banks.",
    "Payroll clerks post overtime, bonus and holiday accruals before each monthly closing date.",
    "The boiler valve opens whenever steam pressure exceeds seven bar inside the copper vessel.",
)
(BROUGHT,) = PACKAGED.values()


def _model(least: float) -> GateModel:
    return replace(BROUGHT, embedder=IDENTITY, least=least)


def _fit(least: float = 0.0, chunks: int = 4, embedder: str = IDENTITY) -> GateFit:
    return GateFit(embedder, 0.5, _model(least), 2, chunks, 0.05, {"questions": 9})


async def _filled(store: ChunkStore) -> None:
    for uri, text in TEXTS.items():
        await asyncio.to_thread(write, store, record(uri, text))


def _retriever(store: ChunkStore, calibration: Calibration | None) -> GatedRetriever:
    return GatedRetriever(store, Space(word_embedder(), 0.6, Fusion(0.5)), calibration=calibration)


async def test_a_search_tells_in_how_many_chunks_each_word_is(database_url: str) -> None:
    async with opened(database_url) as store:
        await _filled(store)
        question = "Rivers unheard of by the teachers at school"
        found = await store.search_hybrid(question, word_vector(question), 3)
        words = list(dict.fromkeys(question_words(question).values()))
        assert len(found.frequencies) == len(words) == found.words
        by_word = dict(zip(question_words(question), found.frequencies, strict=False))
        assert by_word == {"river": 3, "unheard": 0, "teacher": 1, "school": 1}
        assert found.chunks == 4
        assert fuse([found, found]).frequencies == found.frequencies
        assert fuse([found, found]).chunks == 4
        narrowed = await store.search_hybrid(
            question, word_vector(question), 3, Scope(document_ids=(10**9,))
        )
        assert narrowed.frequencies == ()


async def test_a_fit_in_the_database_decides_for_its_tenant_alone(database_url: str) -> None:
    async with opened(database_url) as store:
        await _filled(store)
        assert await latest_fit(store) is None
        await asyncio.to_thread(record_fit, store, _fit(least=0.1))
        await asyncio.to_thread(record_fit, store, _fit(least=0.4))
        stored = await latest_fit(store)
        assert stored == (_fit(least=0.4), 4)
        assert await corpus_size(store) == (2, 4)
        assert await latest_fit(store.of("another")) is None
        kept = Calibration()
        assert await kept.model_of(store, IDENTITY) == _model(0.4)
        assert await kept.model_of(store.of("another"), IDENTITY) is None
        assert await kept.model_of(store.of("another"), BROUGHT.embedder) == BROUGHT


async def test_an_unfit_fit_is_told_of(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(database_url) as store:
        await _filled(store)
        await asyncio.to_thread(record_fit, store, _fit(chunks=400))
        with caplog.at_level(logging.WARNING):
            assert await Calibration().model_of(store, IDENTITY) == _model(0.0)
            assert "calibrated on 400 chunks, and there are 4 now" in caplog.text
            await asyncio.to_thread(record_fit, store, _fit(embedder="other:e"))
            assert await Calibration().model_of(store, IDENTITY) is None
            assert f"calibrated for other:e, and the embedder is {IDENTITY}" in caplog.text
            caplog.clear()
            assert await Calibration().model_of(store, BROUGHT.embedder) == BROUGHT


@pytest.mark.parametrize(
    ("least", "bounded", "question", "passed"),
    [
        (0.0, False, "teacher", True),
        (1.1, False, "river freezes winter", False),  # as near as can be, and not enough
        (0.0, True, "penguins", False),  # enough, but beyond the ceiling that was set
        (0.0, False, "penguins", True),
    ],
)
async def test_the_model_decides_and_a_ceiling_that_was_set_stays_one(
    database_url: str, least: float, bounded: bool, question: str, passed: bool
) -> None:
    async with opened(database_url) as store:
        await _filled(store)
        await asyncio.to_thread(record_fit, store, _fit(least))
        retriever = _retriever(store, Calibration(bounded=bounded))
        retrieval = await retriever.search(question)
        assert retrieval.decision.passed is passed
        assert (retrieval.reason is None) is passed
        estimate = retrieval.decision.estimate
        assert estimate is not None and estimate.least == least
        assert estimate.signals and 0 <= estimate.score <= 1
        blocking = await asyncio.to_thread(
            store.connections.run_blocking, retriever.search, question
        )
        assert blocking.decision == retrieval.decision


async def test_the_plain_gate_knows_no_estimate(database_url: str) -> None:
    async with opened(database_url) as store:
        await _filled(store)
        await asyncio.to_thread(record_fit, store, _fit(1.1))
        for calibration in (None, Calibration()):  # the second has no fit in a search by distance
            space = Space(word_embedder(), 0.6, None if calibration else Fusion(0.5))
            retriever = GatedRetriever(store, space, calibration=calibration)
            decision = (await retriever.search("river freezes winter")).decision
            assert decision.passed and decision.estimate is None


async def test_questions_are_made_of_the_corpus_and_asked(database_url: str) -> None:
    async with opened(database_url) as store:
        for number, text in enumerate(SENTENCES):
            await asyncio.to_thread(write, store, record(f"{number}.txt", text))
        questions = await generated_questions(store, 8, 0)
        kinds = [question.kind for question in questions]
        assert kinds.count(COVERED) == kinds.count(LEFT_OUT) >= 3
        vectors = [word_vector(question.text) for question in questions]
        asked = await search_database(store, questions, vectors, Fusion(0.5))
        nearest: Callable[[str], float] = lambda kind: min(  # noqa: E731
            one.distance or 2.0 for one in asked if one.kind == kind
        )
        assert nearest(COVERED) < nearest("foreign: built in")
        assert all(one.found for one in asked if one.covered)
        own = {one.question.text: one for one in asked if one.covered}
        for one in asked:
            if one.kind == LEFT_OUT:
                assert one.signals != own[one.question.text].signals


def test_a_tenant_without_documents_is_told_in_a_line(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name in ("HELIX_LLM", "HELIX_EMBEDDER"):
        monkeypatch.setenv(name, "offline")
    monkeypatch.setenv("DATABASE_URL", database_url)
    file = tmp_path / "asked.jsonl"
    file.write_text('{"question": "a?", "covered": true}\n{"question": "b?", "covered": false}\n')
    assert main(["--questions", str(file), "--tenant", "nobody"]) == 1
    assert capsys.readouterr().err == "tenant nobody has no documents: ingest some first\n"


def test_the_setting_chooses_and_an_explicit_ceiling_bounds() -> None:
    settings = load_settings(database_url="embedded", llm="offline", embedder="offline")
    assert build_calibration(settings) is None
    chosen = build_calibration(settings.model_copy(update={"gate": "calibrated"}))
    assert chosen is not None and not chosen._bounded
    bounded = settings.model_copy(update={"gate": "calibrated", "retrieval_max_distance": 0.6})
    assert (build_calibration(bounded) or chosen)._bounded
