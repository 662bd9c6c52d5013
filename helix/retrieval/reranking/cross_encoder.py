"""Rerankers that run in this process: a cross-encoder of sentence-transformers.

LlamaIndex's SentenceTransformerRerank is left out: it runs code that a model brings along unless
told otherwise, cuts every pair at 512 tokens, and leaves the scale of the scores to the model.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from helix.errors import SettingsError, UpstreamError
from helix.retrieval.reranking.base import BlockingReranker, Reranker

# By name: with it come torch and its types, which are too much for who only checks this file.
_sentence_transformers: Any = import_module("sentence_transformers")

MODEL = "cross-encoder/ms-marco-MiniLM-L6-v2"


def cross_encoder_reranker(model: str, *, min_score: float | None) -> Reranker:
    """Rerank with ``model``, a directory or a name on the Hugging Face hub; MODEL where empty.

    Reads the model, seconds of work, and fetches it first where it is not on this machine.

    Raises:
        SettingsError: the model cannot be loaded, or gives other than one score a pair.
    """
    model = model or MODEL
    try:
        encoder = _sentence_transformers.CrossEncoder(model, trust_remote_code=False)
    except Exception as error:  # noqa: BLE001 - transformers and the hub raise all kinds
        kind = type(error).__name__
        raise SettingsError(
            f"HELIX_RERANKER=cross-encoder:{model} cannot be loaded ({kind}):"
            " check the model's name or directory"
        ) from None
    if encoder.num_labels != 1:
        raise SettingsError(
            f"HELIX_RERANKER=cross-encoder:{model} gives {encoder.num_labels} scores a pair:"
            " choose a model that gives one"
        )
    return CrossEncoderReranker(encoder, f"cross-encoder:{model}", min_score)


class CrossEncoderReranker(BlockingReranker):
    """Scores are the logistic function of the model's logit, 0 to 1, whatever the model says.

    Models differ in whether they bring that function; the order is the same with and without.
    """

    def __init__(self, encoder: Any, identity: str, min_score: float | None) -> None:
        # One: torch uses all cores for a call, and fast tokenizers are not made for two threads.
        super().__init__(identity, min_score, threads=1)
        self._encoder = encoder

    def _scores(self, question: str, texts: list[str]) -> list[float]:
        try:
            logits = self._encoder.predict(
                [(question, text) for text in texts],
                activation_fn=_as_it_is,
                show_progress_bar=False,
            )
        except Exception as error:  # noqa: BLE001
            kind = type(error).__name__
            raise UpstreamError(f"{self.identity} failed ({kind}): try again") from None
        return [_logistic(float(logit)) for logit in logits]


def _as_it_is(logits: Any) -> Any:
    return logits


def _logistic(logit: float) -> float:
    """1 / (1 + exp(-logit)), in double precision so that high logits keep their order.

    What is not finite stays so, for the caller to see.
    """
    if not math.isfinite(logit):
        return logit
    grown = math.exp(-abs(logit))
    return 1 / (1 + grown) if logit >= 0 else grown / (1 + grown)
