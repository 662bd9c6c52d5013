"""A cross-encoder in this process: `make soak` installs what it needs, PyTorch among it."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path

import pytest

from helix.errors import SettingsError
from helix.retrieval.reranking import build_reranker
from helix.retrieval.reranking.stage import rerank
from tests.support.scripted_reranker import HITS, QUESTION, TEXTS

pytestmark = pytest.mark.soak


async def test_the_loop_runs_on_while_a_model_computes(tiny_model: Path) -> None:
    reranker = build_reranker(f"cross-encoder:{tiny_model}", keys={}, timeout=60)
    assert reranker is not None
    task = asyncio.create_task(reranker.scores(QUESTION, TEXTS * 20))
    ticks = 0
    while not task.done():
        await asyncio.sleep(0)
        ticks += 1
    await reranker.aclose()
    assert len(task.result()) == 60 and ticks > 1


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer, 8 wide, whose weights are random, as a directory."""
    return _bert(tmp_path_factory.mktemp("cross-encoder"), labels=1)


def _bert(directory: Path, labels: int) -> Path:
    torch, transformers = import_module("torch"), import_module("transformers")
    words = sorted(
        {word.strip(".").lower() for text in [*TEXTS, QUESTION] for word in text.split()}
    )
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *words]
    (directory / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizerFast(str(directory / "vocab.txt")).save_pretrained(directory)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        num_labels=labels,
        initializer_range=1.0,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(directory)
    return directory


async def test_a_cross_encoder_scores_each_pair_between_0_and_1(tiny_model: Path) -> None:
    encoder = import_module("sentence_transformers").CrossEncoder(str(tiny_model))
    reranker = build_reranker(f"cross-encoder:{tiny_model}", keys={}, timeout=60)
    assert reranker is not None
    assert (reranker.identity, reranker.min_score) == (f"cross-encoder:{tiny_model}", None)
    scores = await reranker.scores(QUESTION, TEXTS)
    alone = [(await reranker.scores(QUESTION, [text]))[0] for text in TEXTS]
    theirs = encoder.predict([(QUESTION, text) for text in TEXTS])
    assert scores == pytest.approx(alone, abs=1e-6)
    assert scores == pytest.approx([float(score) for score in theirs], abs=1e-6)
    assert len(set(scores)) == 3 and all(0 < score < 1 for score in scores)
    assert await reranker.scores(QUESTION, []) == []
    _, ranked_scores = await rerank(reranker, QUESTION, HITS, timeout=30)
    assert ranked_scores == pytest.approx(sorted(scores, reverse=True), abs=1e-6)
    await reranker.aclose()


async def test_a_text_longer_than_the_model_reads_is_cut(tiny_model: Path) -> None:
    reranker = build_reranker(f"cross-encoder:{tiny_model}", keys={}, timeout=60)
    assert reranker is not None
    (score,) = await reranker.scores(QUESTION, ["items " * 500])
    assert 0 < score < 1
    await reranker.aclose()


async def test_questions_at_once_share_one_model(tiny_model: Path) -> None:
    reranker = build_reranker(f"cross-encoder:{tiny_model}", keys={}, timeout=60)
    assert reranker is not None
    once = await reranker.scores(QUESTION, TEXTS)
    many = await asyncio.gather(*(reranker.scores(QUESTION, TEXTS) for _ in range(8)))
    assert all(scores == pytest.approx(once, abs=1e-6) for scores in many)
    await reranker.aclose()


def test_a_model_that_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"HELIX_RERANKER=.* cannot be loaded \(\w+\)"):
        build_reranker(f"cross-encoder:{tmp_path}", keys={}, timeout=1)


def test_a_model_of_several_scores_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="gives 3 scores a pair"):
        build_reranker(f"cross-encoder:{_bert(tmp_path, labels=3)}", keys={}, timeout=1)
