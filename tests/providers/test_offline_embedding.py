"""The offline embedder: shape, norm, determinism, loading, and the event loop it runs beside."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.errors import SettingsError
from helix.evidence import vectors
from helix.evidence.vectors import WIDTH, normalise, word_vectors
from helix.providers.factories import build_embedder
from helix.providers.offline import MAX_DISTANCE, offline_embedder
from helix.settings import Settings

SETTINGS = Settings(database_url="embedded", HELIX_LLM="offline", HELIX_EMBEDDER="offline")
EMBEDDER = offline_embedder(SETTINGS, "")


def cosine(one: str, other: str) -> float:
    a, b = word_vectors().embed([one, other])
    return float(a @ b)


def test_the_factory_gives_what_helix_needs_of_an_embedder() -> None:
    embedder = build_embedder(SETTINGS)
    assert embedder.identity == "offline:wordllama-l2_supercat-256"
    assert embedder.max_distance == MAX_DISTANCE
    assert 0 < MAX_DISTANCE < 1
    assert embedder.max_batch == embedder.model.embed_batch_size


def test_a_model_name_is_refused_by_the_variable_that_named_it() -> None:
    with pytest.raises(SettingsError, match="HELIX_EMBEDDER=offline takes no model name"):
        offline_embedder(SETTINGS, "other")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_a_vector_is_1536_wide_and_of_length_one_or_zero(text: str) -> None:
    vector = np.array(EMBEDDER.model.get_text_embedding(text))
    assert vector.shape == (1536,)
    assert not vector[WIDTH:].any()
    length = float(np.linalg.norm(vector))
    assert length == pytest.approx(1, abs=1e-5) or length == 0


@pytest.mark.parametrize("text", ["", " \n\t", "?!", "…—", "\u3000"])
def test_a_text_without_a_word_gives_zeros(text: str) -> None:
    assert not any(EMBEDDER.model.get_query_embedding(text))


@pytest.mark.parametrize("text", ["a", "404", "日本", "😀", "नमस्ते", "\x00b"])
def test_any_script_has_a_vector(text: str) -> None:
    assert any(EMBEDDER.model.get_query_embedding(text))


def test_a_lone_surrogate_is_read_as_an_unknown_character() -> None:
    broken, known = word_vectors().embed(["refund \ud800 policy", "refund \ufffd policy"])
    assert broken.any() and (broken == known).all()


def test_a_vector_does_not_depend_on_the_batch() -> None:
    texts = [f"text number {i} of the batch, " * (i % 7) for i in range(150)]
    together = word_vectors().embed(texts)
    alone = np.concatenate([word_vectors().embed([text]) for text in texts])
    assert (together == alone).all()


def test_questions_and_passages_share_one_space() -> None:
    model = EMBEDDER.model
    assert model.get_query_embedding("refund window") == model.get_text_embedding("refund window")


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    question = "How long does shipping take?"
    near = cosine(question, "Standard shipping takes 2 to 4 working days.")
    far = cosine(question, "The Normans gave their name to Normandy.")
    assert near > far + 0.3


def test_layout_and_shouting_change_little() -> None:
    assert cosine("refunds within\n  30 days", "refunds within 30 days") == pytest.approx(1)
    assert cosine("WHAT IS THE REFUND PERIOD", "what is the refund period") == pytest.approx(1)
    assert normalise("NASA GDPR") == "NASA GDPR", "two words may well be acronyms"
    assert normalise("ﬁnance") == "finance"


def test_a_repeated_word_does_not_drown_the_passage() -> None:
    """Eight mentions weigh 8 ** 0.75 = 4.8 times one, not eight times."""
    table = word_vectors()
    units, lengths = table.embed_and_weigh(["refund", "shipping", "refund " * 8 + "shipping"])
    expected = units[0] * lengths[0] * 8**0.75 + units[1] * lengths[1]
    assert float(units[2] @ expected / np.linalg.norm(expected)) == pytest.approx(1, abs=1e-3)


async def test_async_gives_the_same_vectors() -> None:
    texts = ["one text", "another " * 600, ""]
    model = EMBEDDER.model
    assert await model.aget_text_embedding_batch(texts) == model.get_text_embedding_batch(texts)
    for text in texts:
        assert await model.aget_query_embedding(text) == model.get_query_embedding(text)


async def test_a_batch_leaves_the_event_loop_free() -> None:
    text = "Refunds are accepted within thirty days of purchase, unused and boxed. " * 300
    await EMBEDDER.model.aget_text_embedding("warm")
    silences: list[float] = []

    async def beat() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            silences.append(now - last)
            last = now

    heart = asyncio.create_task(beat())
    started = time.perf_counter()
    for _ in range(10):
        await EMBEDDER.model.aget_text_embedding_batch([text] * EMBEDDER.max_batch)
    total = time.perf_counter() - started
    heart.cancel()
    assert len(silences) > 20, "the loop ran beside the work"
    assert sorted(silences)[len(silences) // 2] < total / 20


def test_threads_share_one_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_loaded", None)
    reads: list[int] = []
    read = vectors._read

    def counted() -> vectors.WordVectors:
        reads.append(1)
        return read()

    monkeypatch.setattr(vectors, "_read", counted)
    found: list[vectors.WordVectors] = []
    threads = [threading.Thread(target=lambda: found.append(word_vectors())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1
    assert len({id(each) for each in found}) == 1


def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_loaded", None)
    monkeypatch.setattr(vectors, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="needs wordllama: install it"):
        word_vectors()


def test_loading_leaves_logging_and_the_network_alone() -> None:
    """WordLlama's own module configures the root logger and imports an HTTP client."""
    code = (
        "import logging, socket, sys\n"
        "socket.socket.connect = None\n"
        "from helix.evidence.vectors import word_vectors\n"
        "assert word_vectors().embed(['text']).any()\n"
        "assert not logging.getLogger().handlers, 'root logger configured'\n"
        "assert 'wordllama' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert logging.getLogger("helix") is not None
