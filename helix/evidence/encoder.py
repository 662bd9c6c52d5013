"""The encoder of evidence: a small transformer that reads a question and a passage together.

MiniLM's six layers (12 heads, 384 numbers a token), fine-tuned by ``evals.evidence.train``. It runs
in numpy: the weights are 8-bit integers with one scale for each output, 22 MB, read on first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from helix.evidence.words import Floats

WEIGHTS = Path(__file__).with_name("encoder.npz")
MOST_QUESTION, MOST_HEADINGS, MOST_UNIT = 36, 12, 80
"""Tokens that are read of a question, of headings and of one unit; the rest is cut off."""
_HEADS = 12
_UNKNOWN = "[UNK]"
_TINY = 1e-12  # under the roots of the normalisations, as BERT has it

Ids = Sequence[int]


class Stretch(NamedTuple):
    """Consecutive units of one passage, by their tokens, under its headings."""

    headings: Ids
    units: Sequence[Ids]


class _Dense(NamedTuple):
    weights: Floats
    bias: Floats

    def __call__(self, rows: Floats) -> Floats:
        return np.asarray(rows @ self.weights + self.bias, dtype=np.float32)


class _Scale(NamedTuple):
    scale: Floats
    shift: Floats

    def __call__(self, rows: Floats) -> Floats:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + _TINY)
        return np.asarray(centred / spread * self.scale + self.shift, dtype=np.float32)


@dataclass(frozen=True)
class _Layer:
    """One layer of a transformer: attention and a feed-forward net, each added and normalised."""

    attended: _Dense
    joined: _Dense
    after_attention: _Scale
    widened: _Dense
    narrowed: _Dense
    after: _Scale

    def __call__(self, rows: Floats, padding: Floats) -> Floats:
        rows = self.after_attention(rows + self.joined(self._attention(rows, padding)))
        return self.after(rows + self.narrowed(_gelu(self.widened(rows))))

    def _attention(self, rows: Floats, padding: Floats) -> Floats:
        count, length, width = rows.shape
        parts = self.attended(rows).reshape(count, length, 3, _HEADS, width // _HEADS)
        asks, keys, values = parts.transpose(2, 0, 3, 1, 4)
        scores = asks @ keys.transpose(0, 1, 3, 2) / np.float32((width // _HEADS) ** 0.5) + padding
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        return np.asarray((scores @ values).transpose(0, 2, 1, 3).reshape(count, length, width))


def _gelu(rows: Floats) -> Floats:
    """The Gaussian error linear unit by its approximation with tanh (Hendrycks and Gimpel)."""
    inner = rows * rows
    inner *= np.float32(0.044715)
    inner += 1
    inner *= rows
    inner *= np.float32((2 / np.pi) ** 0.5)
    np.tanh(inner, out=inner)
    inner += 1
    inner *= rows
    inner *= np.float32(0.5)
    return inner


class Encoder:
    """The weights of a fine-tuned MiniLM; any number of threads may use it."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._words, self._word_scales = arrays["words"], arrays["words_scale"]
        self._places = arrays["places"].astype(np.float32)
        self._types = arrays["types"].astype(np.float32)
        self._first = _scale(arrays, "first")
        self._layers = [_layer(arrays, f"layer{n}") for n in range(int(arrays["layers"]))]
        self._unit = _Dense(
            arrays["unit"].astype(np.float32), arrays["unit_bias"].astype(np.float32)
        )
        self.tokenizer = _tokenizer(arrays["vocabulary"].tobytes().decode())
        vocabulary = self.tokenizer.get_vocab()
        self._start, self._end = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text; a lone surrogate is read as a question mark."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return [one.ids for one in self.tokenizer.encode_batch(clean, add_special_tokens=False)]

    def log_odds(self, question: Ids, stretches: Sequence[Stretch]) -> list[Floats]:
        """For each stretch the log-odds that each of its units answers ``question``.

        They are relative: to one another and to 0, that nothing there answers. Some 40 ms of a
        processor for a stretch of 150 tokens.
        """
        if not stretches:
            return []
        read = [self._read(question, one) for one in stretches]
        length = max(len(ids) for ids, _, _ in read)
        ids = np.zeros((len(read), length), dtype=np.intp)
        types, padding = np.zeros_like(ids), np.full((len(read), length), -1e4, dtype=np.float32)
        for row, (own, start, _) in enumerate(read):
            ids[row, : len(own)], padding[row, : len(own)], types[row, start : len(own)] = own, 0, 1
        rows = self._layered(ids, types, padding)
        return [self._units(rows[row], spans) for row, (_, _, spans) in enumerate(read)]

    def _read(self, question: Ids, one: Stretch) -> tuple[list[int], int, list[tuple[int, int]]]:
        ids = [self._start, *question[:MOST_QUESTION], self._end]
        ids += [*one.headings[:MOST_HEADINGS], self._end]
        start, spans = len(ids), []
        for unit in one.units:
            spans.append((len(ids), len(ids) + len(unit[:MOST_UNIT])))
            ids += unit[:MOST_UNIT]
        return [*ids, self._end], start, spans

    def _layered(self, ids: NDArray[np.intp], types: NDArray[np.intp], padding: Floats) -> Floats:
        rows = self._words[ids].astype(np.float32) * self._word_scales[ids][..., None]
        rows = self._first(rows + self._types[types] + self._places[: ids.shape[1]])
        for layer in self._layers:
            rows = layer(rows, padding[:, None, None, :])
        return rows

    def _units(self, rows: Floats, spans: Sequence[tuple[int, int]]) -> Floats:
        pooled = [np.concatenate([rows[a:b].mean(axis=0), rows[a:b].max(axis=0)]) for a, b in spans]
        return self._unit(np.stack(pooled))


def _tokenizer(vocabulary: str) -> Tokenizer:
    """BERT's tokenizer of lower-case letters without accents."""
    places = {token: place for place, token in enumerate(vocabulary.split("\n"))}
    made = Tokenizer(models.WordPiece(places, unk_token=_UNKNOWN))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def _layer(arrays: Mapping[str, NDArray[Any]], name: str) -> _Layer:
    return _Layer(
        _dense(arrays, f"{name}_attended"), _dense(arrays, f"{name}_joined"),
        _scale(arrays, f"{name}_after_attention"), _dense(arrays, f"{name}_widened"),
        _dense(arrays, f"{name}_narrowed"), _scale(arrays, f"{name}_after"),
    )  # fmt: skip


def _dense(arrays: Mapping[str, NDArray[Any]], name: str) -> _Dense:
    weights = arrays[name].astype(np.float32) * arrays[f"{name}_scale"].astype(np.float32)
    return _Dense(weights, arrays[f"{name}_bias"].astype(np.float32))


def _scale(arrays: Mapping[str, NDArray[Any]], name: str) -> _Scale:
    scale, shift = arrays[f"{name}_norm"].astype(np.float32)
    return _Scale(scale, shift)


@cache
def evidence_encoder() -> Encoder:
    """The encoder, read from the package on the first call of the process, in 0.2 s."""
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        return Encoder(dict(arrays))
