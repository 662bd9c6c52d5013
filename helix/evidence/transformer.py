"""The transformer of evidence: MiniLM's six layers (12 heads, 384 numbers a token).

Adapters (Hu et al., LoRA, 2021) add the product of two narrow matrices to the weights of a layer,
and have its biases and norms of their own: one file of weights serves several tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from helix.evidence.dense import Dense, quantize
from helix.evidence.words import Floats

HEADS = 12
_UNKNOWN = "[UNK]"
_ALL = slice(None)
_TINY = 1e-12  # under the roots of the normalisations, as BERT has it

Ids = Sequence[int]
Arrays = Mapping[str, NDArray[Any]]


class Pair(NamedTuple):
    """Two texts that are read together: ``ids``, of which the second begins at ``start``."""

    ids: Sequence[int]
    start: int


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

    attended: Dense
    joined: Dense
    after_attention: _Scale
    widened: Dense
    narrowed: Dense
    after: _Scale

    def __call__(self, rows: Floats, padding: Floats, wanted: slice) -> Floats:
        """The output for the ``wanted`` rows, each of which attends to all rows."""
        attention = self._attention(rows, padding, wanted)
        rows = self.after_attention(rows[:, wanted] + self.joined(attention))
        return self.after(rows + self.narrowed(_gelu(self.widened(rows))))

    def _attention(self, rows: Floats, padding: Floats, wanted: slice) -> Floats:
        count, length, width = rows.shape
        parts = self.attended(rows).reshape(count, length, 3, HEADS, width // HEADS)
        asks, keys, values = parts.transpose(2, 0, 3, 1, 4)
        asks = asks[:, :, wanted] / np.float32((width // HEADS) ** 0.5)
        weights = asks @ keys.transpose(0, 1, 3, 2) + padding
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        values = (weights @ values) / weights.sum(axis=-1, keepdims=True)
        return np.asarray(values.transpose(0, 2, 1, 3).reshape(count, -1, width))


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


class Transformer:
    """The layers with a tokenizer; any number of threads may use it."""

    def __init__(self, arrays: Arrays, adapters: Arrays | None = None) -> None:
        own = adapters or {}
        self._words, self._word_scales = arrays["words"], arrays["words_scale"]
        self._places = arrays["places"].astype(np.float32)
        self._types = own.get("types", arrays["types"]).astype(np.float32)
        self._first = _scale(arrays, own, "first")
        self._layers = [_layer(arrays, own, f"layer{n}") for n in range(int(arrays["layers"]))]
        self.tokenizer = _tokenizer(arrays["vocabulary"].tobytes().decode())
        vocabulary = self.tokenizer.get_vocab()
        self.start, self.end = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text; a lone surrogate is read as a question mark."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return [one.ids for one in self.tokenizer.encode_batch(clean, add_special_tokens=False)]

    def rows(self, pairs: Sequence[Pair], wanted: slice) -> Floats:
        """Output of the last layer for the ``wanted`` tokens of each: shape (pairs, tokens, 384).

        Some 20 ms of a processor for a pair of 170 tokens. The last layer is a sixth of that, and
        is computed for the wanted ones alone.
        """
        length = max(len(one.ids) for one in pairs)
        ids = np.zeros((len(pairs), length), dtype=np.intp)
        types, padding = np.zeros_like(ids), np.full((len(pairs), length), -1e4, dtype=np.float32)
        for row, (own, start) in enumerate(pairs):
            ids[row, : len(own)], padding[row, : len(own)], types[row, start : len(own)] = own, 0, 1
        rows = self._words[ids].astype(np.float32) * self._word_scales[ids][..., None]
        rows = self._first(rows + self._types[types] + self._places[:length])
        for layer in self._layers[:-1]:
            rows = layer(rows, padding[:, None, None, :], _ALL)
        return self._layers[-1](rows, padding[:, None, None, :], wanted)


def pooled(rows: Floats) -> Floats:
    """Mean and maximum of the rows of some tokens, one after another."""
    return np.concatenate([rows.mean(axis=0), rows.max(axis=0)])


def _tokenizer(vocabulary: str) -> Tokenizer:
    """BERT's tokenizer of lower-case letters without accents."""
    places = {token: place for place, token in enumerate(vocabulary.split("\n"))}
    made = Tokenizer(models.WordPiece(places, unk_token=_UNKNOWN))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def _layer(arrays: Arrays, own: Arrays, name: str) -> _Layer:
    return _Layer(
        _dense(arrays, own, f"{name}_attended"), _dense(arrays, own, f"{name}_joined"),
        _scale(arrays, own, f"{name}_after_attention"), _dense(arrays, own, f"{name}_widened"),
        _dense(arrays, own, f"{name}_narrowed"), _scale(arrays, own, f"{name}_after"),
    )  # fmt: skip


def _dense(arrays: Arrays, own: Arrays, name: str) -> Dense:
    weights, scales = arrays[name], arrays[f"{name}_scale"].astype(np.float32)
    bias = own.get(f"{name}_bias", arrays[f"{name}_bias"]).astype(np.float32)
    if f"{name}_down" not in own:
        return Dense(weights, scales, bias)
    up, down = (own[f"{name}_{part}"].astype(np.float32) for part in ("up", "down"))
    return Dense(*quantize(weights * scales + (up @ down).T), bias)


def _scale(arrays: Arrays, own: Arrays, name: str) -> _Scale:
    scale, shift = own.get(f"{name}_norm", arrays[f"{name}_norm"]).astype(np.float32)
    return _Scale(scale, shift)
